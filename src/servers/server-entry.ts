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

/** What a field says, wherever it enters. Spaces around a text mean nothing; null is no value. */
export function readValue(given: string): string | null
export function readValue(given: unknown): unknown
export function readValue(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const value = given.trim()
  return value === '' || NO_VALUE.has(value) ? null : value
}

/** A text without a value empties these fields. It leaves out the others. */
const EMPTIED = new Set(['version', 'listing_kind'])

/** Reads each text of an entry once, before the rules of its fields. */
const readTexts = v.transform((item: unknown) => {
  if (typeof item !== 'object' || item === null) return item
  const fields = Object.entries(item).flatMap(([field, given]) => {
    if (typeof given !== 'string' || !Object.hasOwn(SERVER_ENTRY_FIELDS, field))
      return [[field, given]]
    const value = readValue(given)
    return value !== null || EMPTIED.has(field) ? [[field, value]] : []
  })
  return Object.fromEntries(fields)
})

const text = v.string('must be a string')

/** What is wrong with a value, in words that follow the field's name. */
type Complain = (value: string) => string | null

const check = (complain: Complain) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const message = dataset.typed ? complain(dataset.value) : null
    if (message !== null) addIssue({ message })
  })

const checked = (complain: Complain) => v.pipe(text, check(complain))

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
const SERVER_ENTRY_FIELDS = {
  name: checked(line(SERVER_NAME_LENGTH_MAX)),
  address: checked(complaintAboutAddress),
  slug: v.nullish(checked(slug)),
  edition: v.optional(checked(word)),
  status: v.optional(checked(word)),
  version: v.nullish(checked(word)),
  listing_kind: v.nullish(checked(word)),
  updated_at: v.optional(instantField),
}

/** The schema of an entry, from the function that makes one of its fields. */
export const entrySchema = <Schema extends v.GenericSchema>(
  object: (fields: typeof SERVER_ENTRY_FIELDS) => Schema,
) => v.pipe(v.unknown(), readTexts, object(SERVER_ENTRY_FIELDS))

const schema = entrySchema((fields) => v.object(fields, 'must be an object'))

/**
 * The entry without other fields, or everything that is wrong with it. The complaints follow the
 * names of their fields.
 */
export function inspectEntry(
  item: unknown,
): { entry: ServerEntry } | { wrong: string[]; complaints: Record<string, string> } {
  const { success, output, issues = [] } = v.safeParse(schema, item)
  if (success) return { entry: output as ServerEntry }
  const complaints = issues.map((issue) => [v.getDotPath(issue), complaintOf(issue)])
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

type Issue = v.InferIssue<typeof schema>

const isMissing = ({ received }: Issue) => received === 'undefined'

const complaintOf = (issue: Issue) => (isMissing(issue) ? 'is missing' : issue.message)

function describe(issue: Issue): string {
  const field = v.getDotPath(issue)
  if (field === null) return `${issue.message}, not ${quote(issue.input)}`
  const complaint = `"${field}" ${complaintOf(issue)}`
  return isMissing(issue) ? complaint : `${complaint}: ${quote(issue.path!.at(-1)!.value)}`
}

/** Unicode classifies a few invisible characters as letters. */
function isSlug(text: string): boolean {
  return /^[\p{L}\p{N}._~-]+$/u.test(text) && !hasInvisible(text)
}
