import * as v from 'valibot'
import { formatInstant, INSTANT_MAX, type Instant, parseInstant } from '../model/instant.ts'
import { hasInvisible } from '../model/characters/invisible.ts'
import { complaintAboutLine, quote } from '../model/text.ts'
import { complaintAboutAddress } from './address.ts'

/**
 * A server in an import. An absent field keeps its value in an update and gets the default in a new
 * server.
 */
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

/** Other editions and statuses are possible, too. */
export const EDITIONS_KNOWN = ['java', 'bedrock'] as const
export const STATUSES_KNOWN = ['published', 'draft'] as const

export const SERVER_NAME_LENGTH_MAX = 200
const WORD_LENGTH_MAX = 64
const SLUG_LENGTH_MAX = 200

const line = (codePointsMax: number) =>
  v.pipe(
    v.string('must be a string'),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const complaint = complaintAboutLine(dataset.value, codePointsMax)
      if (complaint !== null) addIssue({ message: `must ${complaint}` })
    }),
  )

/** An instant as text. */
export const instantField = v.pipe(
  v.string('must be a string'),
  v.transform(parseInstant),
  v.number('must be an ISO 8601 instant such as 2026-01-31T12:00:00Z'),
  v.safeInteger(
    `must lie between ${formatInstant(-INSTANT_MAX)} and ${formatInstant(INSTANT_MAX)}`,
  ),
)

/** The fields of an entry, and what each may have. */
export const SERVER_ENTRY_FIELDS = {
  name: line(SERVER_NAME_LENGTH_MAX),
  address: v.pipe(
    v.string('must be a string'),
    v.rawCheck(({ dataset, addIssue }) => {
      const complaint = dataset.typed ? complaintAboutAddress(dataset.value) : null
      if (complaint !== null) addIssue({ message: complaint })
    }),
  ),
  slug: v.optional(
    v.nullable(
      v.pipe(line(SLUG_LENGTH_MAX), v.check(isSlug, 'must have only letters, digits and . _ ~ -')),
    ),
  ),
  edition: v.optional(line(WORD_LENGTH_MAX)),
  status: v.optional(line(WORD_LENGTH_MAX)),
  version: v.optional(v.nullable(line(WORD_LENGTH_MAX))),
  listing_kind: v.optional(v.nullable(line(WORD_LENGTH_MAX))),
  updated_at: v.optional(instantField),
}

const schema = v.object(SERVER_ENTRY_FIELDS, 'must be an object')

/** The entry without other fields, or everything that is wrong with it. */
export function inspectEntry(item: unknown): { entry: ServerEntry } | { wrong: string[] } {
  const checked = v.safeParse(schema, item)
  return checked.success
    ? { entry: checked.output as ServerEntry }
    : { wrong: checked.issues.map(describe) }
}

/** The errors of one server, in words that follow each field's name. */
export function complaintsAboutFields(fields: object): Record<string, string> {
  const checked = v.safeParse(schema, fields)
  if (checked.success) return {}
  return Object.fromEntries(checked.issues.map((issue) => [v.getDotPath(issue)!, issue.message]))
}

const KNOWN = { edition: EDITIONS_KNOWN, status: STATUSES_KNOWN } as const

/**
 * What is wrong with a new edition or status that differs from a known one only in case, in words
 * that follow the field's name. A stored value may stay.
 */
export function complaintsAboutCase(
  fields: Pick<ServerEntry, keyof typeof KNOWN>,
  before: Readonly<Record<keyof typeof KNOWN, string>>,
): Partial<Record<keyof typeof KNOWN, string>> {
  const complaints: Partial<Record<keyof typeof KNOWN, string>> = {}
  for (const field of ['edition', 'status'] as const) {
    const value = fields[field]
    if (value === undefined || value === before[field]) continue
    const known = KNOWN[field].find((one) => one === value.toLowerCase())
    if (known !== undefined && known !== value) complaints[field] = `must be written "${known}"`
  }
  return complaints
}

/**
 * Makes a slug from a name: its letters and digits in lowercase, joined by hyphens. Can be empty.
 */
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
  if (issue.received === 'undefined') return `"${field}" is missing`
  return `"${field}" ${issue.message}: ${quote(issue.path!.at(-1)!.value)}`
}

/** Unicode classifies a few invisible characters as letters. */
function isSlug(text: string): boolean {
  return /^[\p{L}\p{N}._~-]+$/u.test(text) && !hasInvisible(text)
}
