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

/** Databases and spreadsheets write these words where there is no value. */
const NO_VALUE = new Set(['\\N', 'NULL', 'N/A'])

/**
 * What a text says about a field, wherever it enters. Spaces around it say nothing, and null is no
 * value. A name can be any word.
 */
export function readValue(field: string, text: string): string | null {
  const value = text.trim()
  return value === '' || (field !== 'name' && NO_VALUE.has(value)) ? null : value
}

const text = v.string('must be a string')

/** What is wrong with a value, in words that follow the field's name. */
type Complain = (value: string) => string | null

const check = (complain: Complain) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const message = dataset.typed ? complain(dataset.value) : null
    if (message !== null) addIssue({ message })
  })

const needed = (field: string, complain: Complain) =>
  v.pipe(
    text,
    v.transform((given) => readValue(field, given) ?? ''),
    check(complain),
  )

const nullable = (field: string, complain: Complain) =>
  v.nullable(
    v.pipe(
      text,
      v.transform((given) => readValue(field, given)),
      v.nullable(v.pipe(v.string(), check(complain))),
    ),
  )

const line =
  (codePointsMax: number): Complain =>
  (value) => {
    const complaint = complaintAboutLine(value, codePointsMax)
    return complaint === null ? null : `must ${complaint}`
  }

const word = line(64)

const slug: Complain = (value) =>
  line(200)(value) ?? (isSlug(value) ? null : 'must have only letters, digits and . _ ~ -')

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
  name: needed('name', line(SERVER_NAME_LENGTH_MAX)),
  address: needed('address', complaintAboutAddress),
  slug: v.optional(nullable('slug', slug)),
  edition: v.optional(needed('edition', word)),
  status: v.optional(needed('status', word)),
  version: v.optional(nullable('version', word)),
  listing_kind: v.optional(nullable('listing_kind', word)),
  updated_at: v.optional(instantField),
}

const schema = v.object(SERVER_ENTRY_FIELDS, 'must be an object')

/**
 * The entry without other fields, or everything that is wrong with it. The complaints follow the
 * names of their fields.
 */
export function inspectEntry(
  item: unknown,
): { entry: ServerEntry } | { wrong: string[]; complaints: Record<string, string> } {
  const { success, output, issues = [] } = v.safeParse(schema, item)
  if (success) return { entry: output as ServerEntry }
  const complaints = issues.map((issue) => [v.getDotPath(issue), issue.message])
  return { wrong: issues.map(describe), complaints: Object.fromEntries(complaints) }
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
