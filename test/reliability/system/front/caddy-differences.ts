/*
 * The cases of the corpus whose answers Caddy changes, by the reason. Caddy reads requests with the
 * HTTP server of Go, which no configuration changes. Our configuration itself changes one answer.
 */

const VERSION = 'Go answers every HTTP version but 1.0 and 1.1 with 505'
const LENIENT = 'Go accepts what it then writes correctly to the service (RFC 9112, 2.2 and 5.2)'
const ONE_LENGTH = 'Go settles on one length or on chunks, and passes on no other (RFC 9112, 6.3)'
const CODING = 'Go answers 501 to every coding but chunks (RFC 9112, 6.1)'
const CHUNKS =
  'Go finds the mistake in the body, which the service does not read. The first answer counts'
const LINE = 'Go takes one space between the parts, and no empty line before them'
const TARGET = 'Go reads the target as a URL and writes its own spelling of it'
const OWN = 'Go answers this itself'
const MONITORS = 'deploy/Caddyfile asks for the health with GET'
const SILENT = 'Go closes a connection without an answer if the head does not arrive in time'

const REASONS: Record<string, string[]> = {
  [VERSION]: [
    'versions: HTTP/0.9 by name',
    'versions: HTTP/3.0',
    'methods: an unknown method, HTTP/2.0',
  ],
  [LENIENT]: [
    'versions: HTTP/1.2',
    'methods: an unknown method, LF alone',
    'noise: LF-only lines',
    'syntax: one line that ends in LF',
    'syntax: an empty name',
    'syntax: a folded value',
    'syntax: a value folded by a tab',
  ],
  [ONE_LENGTH]: [
    'framing: chunks in HTTP/1.0',
    "framing: a length of ''",
    'framing: a length, then chunks',
    'framing: chunks, then a length',
    'framing: a length and chunks on GET',
    'framing: a length twice',
  ],
  [CODING]: [
    'chunks twice, a tab behind',
    'chunks twice',
    'chunks within a coding',
    'chunks behind a control character',
    'an unknown coding',
    'nearly chunks',
    'an unknown coding on GET',
    'a coding within chunks',
    'codings in two lines',
    'an empty coding',
  ].map((name) => `framing: ${name}`),
  [CHUNKS]: [
    'of no number',
    'of a negative size',
    'of a size with 0x',
    'of a size of 17 digits',
    'without an end',
    'that end in LF',
    'with an extension of 20 kB',
    'with a trailer that fails',
  ].flatMap((name) => [`bodies: chunks ${name}`, `bodies: chunks ${name}, on GET`]),
  [LINE]: [
    'methods: an unknown method, two spaces',
    'targets: two spaces before it',
    'noise: empty lines before a request',
    'noise: more empty lines before a request than a head may have bytes',
    'sequences: empty lines between requests',
  ],
  [TARGET]: ['targets: ftp://example.com/health', 'targets: /v1/%zz', 'targets: UTF-8'],
  [OWN]: [
    'methods: OPTIONS of the server',
    'methods: a method of a thousand letters',
    'ignored: an unknown expectation',
    'ignored: an unknown expectation, a key',
    'sequences: answers in the order of their requests, whatever takes longer',
  ],
  [MONITORS]: ['methods: HEAD of the health'],
  [SILENT]: ['sequences: an error behind a request'],
}

/** The cases that Caddy always answers differently, in order. */
export const DIFFERENCES: readonly string[] = Object.entries(REASONS)
  .flatMap(([reason, names]) => (reason === CHUNKS ? [] : names))
  .toSorted()

/** The cases in which Caddy and the service race for the answer. */
export const RACES: ReadonlySet<string> = new Set(REASONS[CHUNKS])
