import { hasInvisible } from '../model/characters/invisible.ts'
import { SERVER_DEFAULTS } from '../model/server-row.ts'
import { complaintAboutLine } from '../model/text.ts'
import { complaintAboutAddress } from './address.ts'

/*
 * The fields of a server that people set. Forms, files, declared state, plans, changes, exports and
 * queries follow this list.
 */

/** What is wrong with a value, in words that follow the field's name. */
type Complain = (value: string) => string | null

interface Field {
  /** On pages. */
  label: string
  complain: Complain
  /** What a new server has. Null if the field may be empty. Absent if it must have a value. */
  initial?: string | null
  /** Values that differ from these only in case are mistakes. Others are possible, too. */
  known?: readonly string[]
  /** What the form suggests. */
  suggested?: readonly string[]
}

export const SERVER_NAME_LENGTH_MAX = 200

const line =
  (codePointsMax: number): Complain =>
  (value) => {
    const complaint = complaintAboutLine(value, codePointsMax)
    return complaint === null ? null : `must ${complaint}`
  }

const word = line(64)

const slug: Complain = (value) =>
  line(200)(value) ?? (isSlug(value) ? null : 'must have only letters, digits and . _ ~ -')

/** Unicode classifies a few invisible characters as letters. */
function isSlug(text: string): boolean {
  return /^[\p{L}\p{N}._~-]+$/u.test(text) && !hasInvisible(text)
}

const { edition, status } = SERVER_DEFAULTS
const EDITIONS = ['java', 'bedrock']

/** In the order of the columns of an export. */
export const FIELDS = {
  name: { label: 'Name', complain: line(SERVER_NAME_LENGTH_MAX) },
  address: { label: 'Address', complain: complaintAboutAddress },
  slug: { label: 'Slug', complain: slug, initial: null },
  edition: {
    label: 'Edition',
    complain: word,
    initial: edition,
    known: EDITIONS,
    suggested: EDITIONS,
  },
  version: { label: 'Version', complain: word, initial: null },
  listing_kind: { label: 'Kind', complain: word, initial: null, suggested: ['server', 'realm'] },
  status: { label: 'Status', complain: word, initial: status, known: ['published', 'draft'] },
} as const satisfies Record<string, Field>

export type FieldName = keyof typeof FIELDS

/** The fields with their values, null for an empty one. */
export type FieldValues = {
  [Name in FieldName]: (typeof FIELDS)[Name] extends { initial: null } ? string | null : string
}

/** The fields that a new server need not name. */
export type InitialName = {
  [Name in FieldName]: (typeof FIELDS)[Name] extends { initial: unknown } ? Name : never
}[FieldName]

export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[]

/** Those that describe a server, side by side in its form. */
export type DetailName = Exclude<InitialName, 'slug'>
export const DETAILS = FIELD_NAMES.slice(FIELD_NAMES.indexOf('slug') + 1) as DetailName[]

export const ruleOf = (name: FieldName): Field => FIELDS[name]

/** What a new server has in the fields that it need not name. */
export const INITIAL = Object.fromEntries(
  FIELD_NAMES.flatMap((name) => {
    const { initial } = ruleOf(name)
    return initial === undefined ? [] : [[name, initial]]
  }),
) as Pick<FieldValues, InitialName>

/** The fields of a server, without what else it has. */
export function valuesOf(server: FieldValues): FieldValues {
  return Object.fromEntries(FIELD_NAMES.map((name) => [name, server[name]])) as FieldValues
}

/** The field that a message names, such as `kind`. */
export const inWords = (name: string): string =>
  (Object.hasOwn(FIELDS, name) ? FIELDS[name as FieldName].label : name).toLowerCase()
