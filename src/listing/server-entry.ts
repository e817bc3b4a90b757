import { isIPv6 } from 'node:net'
import * as v from 'valibot'
import { type Instant, parseInstant } from './instant.ts'
import { complaintAboutLine, quote } from './text.ts'

/** A server as it comes in. What is absent keeps its value in an update, and gets the default in a new server. */
export interface ServerEntry {
  name: string
  address: string
  slug?: string | null
  edition?: string
  status?: string
  version?: string | null
  listing_kind?: string | null
  updated_at?: Instant
}

/** What a new server gets where its entry is silent. */
export const ENTRY_DEFAULTS = { edition: 'java', status: 'published' } as const

const NAME_LENGTH_MAX = 200
const WORD_LENGTH_MAX = 64
const SLUG_LENGTH_MAX = 200
const COMPLAINTS_MAX = 10

const line = (codePointsMax: number) =>
  v.pipe(
    v.string('must be a string'),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const complaint = complaintAboutLine(dataset.value, codePointsMax)
      if (complaint !== null) addIssue({ message: `must ${complaint}` })
    }),
  )

const schema = v.strictObject(
  {
    name: line(NAME_LENGTH_MAX),
    address: v.pipe(
      v.string('must be a string'),
      v.check(isAddress, 'must be a domain or an IP address, with an optional :port'),
    ),
    slug: v.optional(
      v.nullable(
        v.pipe(
          line(SLUG_LENGTH_MAX),
          v.regex(/^[\p{L}\p{N}._~-]+$/u, 'must have only letters, digits and . _ ~ -'),
        ),
      ),
    ),
    edition: v.optional(line(WORD_LENGTH_MAX)),
    status: v.optional(line(WORD_LENGTH_MAX)),
    version: v.optional(v.nullable(line(WORD_LENGTH_MAX))),
    listing_kind: v.optional(v.nullable(line(WORD_LENGTH_MAX))),
    updated_at: v.optional(
      v.pipe(
        v.string('must be a string'),
        v.transform(parseInstant),
        v.number('must be an ISO 8601 instant such as 2026-01-31T12:00:00Z'),
      ),
    ),
  },
  (issue) => (issue.expected === 'never' ? 'is not a field of a server' : 'must be an object'),
)

/** Checks a whole import before any of it is written: the entries, or what is wrong with them, each by its index. */
export function checkEntries(list: unknown): { entries: ServerEntry[] } | { complaints: string[] } {
  if (!Array.isArray(list))
    return { complaints: [`an import is a JSON array of servers, not ${quote(list)}`] }
  const complaints: string[] = []
  const entries: ServerEntry[] = []
  for (const [index, item] of list.entries()) {
    const checked = v.safeParse(schema, item)
    if (checked.success) entries.push(checked.output as ServerEntry)
    else complaints.push(...checked.issues.map((issue) => `entry ${index}: ${describe(issue)}`))
  }
  if (complaints.length === 0) return { entries }
  const more = complaints.length - COMPLAINTS_MAX
  return {
    complaints: [...complaints.slice(0, COMPLAINTS_MAX), ...(more > 0 ? [`and ${more} more`] : [])],
  }
}

/** What is wrong with each field of one server, in words that follow the field's name. */
export function complaintsAboutFields(fields: object): Record<string, string> {
  const checked = v.safeParse(schema, fields)
  if (checked.success) return {}
  return Object.fromEntries(checked.issues.map((issue) => [v.getDotPath(issue)!, issue.message]))
}

/** A slug made from a name: its letters and digits in lower case, with hyphens between; empty where it has none. */
export function suggestSlug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '')
}

function describe(issue: v.InferIssue<typeof schema>): string {
  const field = v.getDotPath(issue)
  if (field === null) return `${issue.message}, not ${quote(issue.input)}`
  if (issue.expected === 'never') return `"${field}" ${issue.message}`
  if (issue.received === 'undefined') return `"${field}" is missing`
  return `"${field}" ${issue.message}: ${quote(issue.path!.at(-1)!.value)}`
}

const LABEL = '[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}_-]{0,61}[\\p{L}\\p{N}_])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*\\.?$`, 'u')

// Every text has this shape.
const HOST_AND_PORT = /^(?:\[([^\]%]*)\]|([^:]*))(?::(.*))?$/s

/** A domain, an IPv4 address or a bracketed IPv6 address, with an optional port from 1 to 65535 (spec 2.1). */
function isAddress(text: string): boolean {
  const [, ipv6, domain = '', port = '1'] = HOST_AND_PORT.exec(text)!
  if (!(/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)) return false
  return ipv6 === undefined ? DOMAIN.test(domain) : isIPv6(ipv6)
}
