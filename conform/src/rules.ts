/** A rule that the kit checks. */
export interface Rule {
  /** The section of the specification. For a choice, the one that is silent. */
  section: string
  /** The rule as a sentence. */
  text: string
  /**
   * True if the specification is silent and this project made a choice. Another implementation may
   * choose differently, so a difference is a note and no finding.
   */
  isChoice?: true
}

const rules = {
  'key-prefix': { section: '2.2', text: 'a key begins with svc_live_' },
  'server-fields': { section: '2.1', text: 'each server has exactly the eight fields' },
  'server-types': { section: '2.1', text: 'each field of a server has its type' },
  'list-answer': { section: '4.1', text: 'a valid key gets 200' },
  'list-shape': { section: '4.1', text: '`servers` is an array of at most 100 servers' },
  'query-ignored': { section: '4.1', text: 'a query changes nothing' },
  'fields-ignored': { section: '4.1', text: 'other header fields change nothing' },
  health: { section: '4.2', text: '`/health` and `/` answer 200 with `ok` true, without a key' },
  preflight: { section: '4.3', text: 'OPTIONS on any path answers 204' },
  'unknown-path': { section: '4.4', text: 'an unknown path gets 404' },
  'unknown-method': { section: '4.4', text: 'an unsupported method gets 404' },
  head: { section: '4.4', text: 'HEAD gets 404, without a body' },
  'one-answer': { section: '4', text: 'a request gets one answer, whatever its bytes' },
  'never-200': { section: '4', text: 'bytes that are no valid request never get a 200' },
  'no-second-answer': { section: '4', text: 'a request hidden in another one gets no answer' },
  'scheme-case': { section: '5.1', text: 'the scheme word is case-insensitive' },
  'no-credentials': { section: '5.1', text: 'a missing or empty header gets 401' },
  'other-scheme': { section: '5.1', text: 'anything but `Bearer`, one space and the key gets 401' },
  'wrong-key': { section: '5.1', text: 'an unknown, truncated or padded key gets 401' },
  'key-elsewhere': { section: '5.1', text: 'a key outside its header field is a missing key' },
  revoked: { section: '5.3', text: 'a revoked key gets 401 at once, and never a 200 again' },
  'error-format': { section: '7.1', text: 'each error is a JSON object with a string `error`' },
  'error-text': { section: '7.2', text: 'each error has the sentence of its status' },
  'known-status': { section: '7.2', text: 'each answer has a status of the specification' },
  'auth-first': { section: '7.3', text: '401 is decided before 429' },
  'content-type': { section: '7.4', text: 'each answer is application/json; charset=utf-8' },
  cors: { section: '7.5', text: 'each answer has the four CORS headers' },
  'one-granted': { section: '8', text: 'of requests at the same moment one gets 200' },
  spacing: { section: '8', text: 'two 200s of a key are at least one second apart' },
  returns: { section: '8', text: 'one second after a 200 the key gets its next one' },
  'limited-cause': { section: '8', text: 'a 429 follows a 200 of the key within one second' },
  'limited-answer': { section: '8', text: '429 has `Retry-After: 1` and the `limit` `1 rps`' },
  'only-200-counts': { section: '8', text: 'only a 200 starts the second of a key' },
  'shared-limit': { section: '8', text: 'all connections with a key share its limit' },
  'health-exempt': { section: '8', text: '`/health` and `/` have no limit' },
  'own-limits': { section: '8', text: 'each key has its own limit' },

  steady: { section: '7.2', text: 'no request of the run gets a 502', isChoice: true },
  'path-bytes': { section: '4.4', text: 'paths are compared byte for byte', isChoice: true },
  'head-of-health': { section: '4.4', text: 'HEAD of `/health` and `/` gets 404', isChoice: true },
  'field-order': { section: '2.1', text: 'fields have the order of section 2.1', isChoice: true },
  'only-servers': { section: '4.1', text: '`servers` is the only member', isChoice: true },
  'two-headers': { section: '5.1', text: 'two Authorization lines get 401', isChoice: true },
  'equal-401s': { section: '7.2', text: 'all 401s have the same body', isChoice: true },
  challenge: { section: '7.2', text: '401 has `WWW-Authenticate: Bearer`', isChoice: true },
  'no-store': { section: '7', text: 'each answer has `Cache-Control: no-store`', isChoice: true },
  spelling: { section: '7', text: 'header values are spelled as in section 7', isChoice: true },
  'preflight-form': {
    section: '4.3',
    text: '204 has the content type and no length',
    isChoice: true,
  },
  'refusal-form': {
    section: '4',
    text: 'bytes that are no valid request get an answer in the form of section 7.1',
    isChoice: true,
  },
} satisfies Record<string, Rule>

export type RuleName = keyof typeof rules

export const RULES: Record<RuleName, Rule> = rules
