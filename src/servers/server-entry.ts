import * as v from 'valibot'
import { formatInstant, INSTANT_MAX, type Instant, parseInstant } from '../model/instant.ts'
import { quote } from '../model/text.ts'
import {
  FIELD_NAMES,
  FIELDS,
  type FieldName,
  type FieldValues,
  type InitialName,
  ruleOf,
} from './fields.ts'

/**
 * A server in an import. An absent field keeps its value in an update and gets the default in a new
 * server.
 */
export type ServerEntry = Pick<FieldValues, Exclude<FieldName, InitialName>> &
  Partial<Pick<FieldValues, InitialName>> & { id?: string; updated_at?: Instant }

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
const isEmptied = (name: string): boolean =>
  name !== 'slug' && isField(name) && ruleOf(name).initial === null

const isField = (name: string): name is FieldName => Object.hasOwn(FIELDS, name)

/** Reads each text of an entry once, before the rules of its fields. */
const readTexts = v.transform((item: unknown) => {
  if (typeof item !== 'object' || item === null) return item
  const fields = Object.entries(item).flatMap(([field, given]) => {
    if (typeof given !== 'string' || !Object.hasOwn(SERVER_ENTRY_FIELDS, field))
      return [[field, given]]
    const value = readValue(given)
    return value !== null || isEmptied(field) ? [[field, value]] : []
  })
  return Object.fromEntries(fields)
})

const text = v.string('must be a string')

/** What one of the fields may have. */
function schemaOf(name: FieldName) {
  const { complain, initial } = ruleOf(name)
  const checked = v.pipe(
    text,
    v.rawCheck<string>(({ dataset, addIssue }) => {
      const message = dataset.typed ? complain(dataset.value) : null
      if (message !== null) addIssue({ message })
    }),
  )
  return initial === null
    ? v.nullish(checked)
    : initial === undefined
      ? checked
      : v.optional(checked)
}

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
  ...(Object.fromEntries(FIELD_NAMES.map((name) => [name, schemaOf(name)])) as unknown as {
    [Name in FieldName]: v.GenericSchema<unknown, ServerEntry[Name]>
  }),
  updated_at: v.optional(instantField),
}

/** The schema of an entry, from the function that makes one of its fields. */
export const entrySchema = <Schema extends v.GenericSchema>(
  object: (fields: typeof SERVER_ENTRY_FIELDS) => Schema,
) => v.pipe(v.unknown(), readTexts, object(SERVER_ENTRY_FIELDS))

const schema = entrySchema((fields) =>
  v.object({ id: v.optional(v.string()), ...fields }, 'must be an object'),
)

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

/** The fields that have known values. */
const KNOWN = ['edition', 'status'] as const
export type OfferedValues = Partial<Pick<FieldValues, (typeof KNOWN)[number]>>

/**
 * What is wrong with a new edition or status that differs from a known one only in case, in words
 * that follow the field's name. A stored value may stay.
 */
export function complaintsAboutCase(
  fields: Pick<ServerEntry, (typeof KNOWN)[number]>,
  before: Readonly<Required<OfferedValues>>,
): OfferedValues {
  const complaints: OfferedValues = {}
  for (const field of KNOWN) {
    const value = fields[field]
    if (value === undefined || value === before[field]) continue
    const known = FIELDS[field].known.find((one) => one === value.toLowerCase())
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
