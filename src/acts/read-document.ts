import { findKeys } from '../keys/leaked-keys.ts'
import { INSTANT_MAX, type Instant, presentInstant } from '../model/instant.ts'
import { quote } from '../model/text.ts'
import { FIELD_NAMES } from '../servers/fields.ts'
import {
  ACTS,
  type ActName,
  type AnyRow,
  type Complaint,
  type Document,
  FORMAT_VERSION,
  type Hand,
  type RowOf,
} from './document.ts'
import { type Field, fieldsOf } from './fields.ts'
import { type ReadKeyFile, readKey } from './read-key.ts'

export interface ReadOptions {
  /** No instant of an operator's document may lie after it. */
  now?: Instant
  readKeyFile?: ReadKeyFile
  /** The place of a row in messages, if it is no element of the document. */
  placeOf?: (row: number) => string
}

export type ReadDocument = { document: Document } | { complaints: Complaint[] }

/** The lists that a document can call whole. */
const WHOLE = { all_users: 'put_users', all_servers: 'put_servers' } as const

const OLD_FORMAT =
  `is 1, and this program reads ${FORMAT_VERSION}. Load the file with the program that wrote it, ` +
  'update the program, and write a new file with `server-listing export`'

/**
 * Reads the JSON of a document, or returns every mistake that does not depend on the database.
 * Takes the rows out of the JSON, which may have hundreds of thousands.
 */
export function readDocument(json: unknown, hand: Hand, options: ReadOptions = {}): ReadDocument {
  const complaints: Complaint[] = []
  const complain: Complain = (place, message) => void complaints.push({ place, message })
  const document: Record<string, unknown> = {}
  if (!isObject(json)) return { complaints: [{ place: '', message: 'must be an object' }] }
  if (hand === 'operator' && json.format_version !== FORMAT_VERSION) {
    const message = json.format_version === 1 ? OLD_FORMAT : `must be ${FORMAT_VERSION}`
    return { complaints: [{ place: 'format_version', message }] }
  }
  for (const [name, list] of Object.entries(json)) {
    if (name === 'format_version' && hand === 'operator') continue
    document[name] = list
    if (Object.hasOwn(WHOLE, name)) {
      if (list !== true) complain(name, 'must be true')
      if (hand === 'site') complain(name, 'works in a file and in a function of PostgreSQL only')
    } else if (!ACTS.includes(name as ActName) && name !== 'all_servers_of')
      complain(findKeys(name).length > 0 ? '' : name, 'is not an act')
    else if (Array.isArray(list))
      document[name] = readRows(name as ActName, list, hand, complain, options)
    else complain(name, 'must be an array')
  }
  if (json.all_servers_of !== undefined && json.put_servers === undefined)
    complain('all_servers_of', 'needs "put_servers", which may be empty')
  for (const [name, list] of Object.entries(WHOLE))
    if (document[name] !== undefined && !(json[list] as unknown[] | undefined)?.length)
      complain(name, `needs rows in "${list}", because an empty list would end all of them`)
  const all = [...complaints, ...findTwice(document, hand)]
  return all.length > 0 ? { complaints: all } : { document }
}

type Json = Record<string, unknown>
type Complain = (place: string, message: string) => void

const isObject = (json: unknown): json is Json =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const NAMES = ['external_id', 'user_id', 'email']

const CLEAR_KEY =
  'has an API key in clear. Remove it from the file, and write its SHA-256 as "key_hash" or the ' +
  'name of a file that has it as "key_file". If others can read this file, revoke the key'

/** Reads the rows of an act. Each leaves the list once it is read. */
function readRows<Act extends ActName>(
  act: Act,
  list: unknown[],
  hand: Hand,
  complain: Complain,
  { now = presentInstant(), readKeyFile, placeOf = (row) => `${act}[${row}]` }: ReadOptions,
): RowOf<Act>[] {
  const fields = fieldsOf(act, hand)
  const isOperators = hand === 'operator'
  return list.flatMap((json, row) => {
    list[row] = undefined
    const place = placeOf(row)
    const mistakes: [string, string][] = []
    const wrong = (field: string, message: string) => void mistakes.push([field, message])
    if (!isObject(json)) {
      complain(place, 'must be an object')
      return []
    }
    const read: Json = {}
    for (const [name, value] of Object.entries(json)) {
      const field = fields.get(name)
      if (isOperators && typeof value === 'string' && findKeys(value).length > 0)
        wrong(name, CLEAR_KEY)
      else if (field === undefined)
        wrong(findKeys(name).length > 0 ? '' : name, `is not a field of ${act}`)
      else {
        const result = readField(field, value, isOperators ? now : INSTANT_MAX)
        if (typeof result === 'object' && result !== null) wrong(name, result.complaint)
        else if (result !== undefined) read[field.name] = result
      }
    }
    for (const [name, field] of fields)
      if (field.isNeeded && read[field.name] === undefined && !mistakes.some(([of]) => of === name))
        wrong(name, 'is missing')
    if (mistakes.length === 0) completeRow(act, read, isOperators, wrong, readKeyFile)
    for (const [field, message] of mistakes)
      complain(field === '' ? place : `${place}.${field}`, message)
    return mistakes.length > 0 ? [] : [{ ...read, row, place } as unknown as RowOf<Act>]
  })
}

function readField(
  { name, isNullable, read }: Field,
  value: unknown,
  latest: Instant,
): ReturnType<Field['read']> {
  if (value === null && isNullable) return null
  if (typeof value !== 'string')
    return { complaint: `must be a string${isNullable ? ' or null' : ''}` }
  if (!value.isWellFormed()) return { complaint: 'must be well-formed Unicode' }
  const result = read(value)
  return typeof result === 'number' && result > latest && name !== 'updated_at'
    ? { complaint: 'lies in the future' }
    : result
}

/** What several fields of a row make together. */
function completeRow(
  act: ActName | 'all_servers_of',
  row: Json,
  isOperators: boolean,
  wrong: Complain,
  readKeyFile: ReadKeyFile | undefined,
): void {
  if (isOperators && !/organizations|remove_servers/.test(act))
    if (NAMES.every((name) => !row[name])) {
      const id = act.endsWith('_users') ? 'an "id"' : 'a "user_id"'
      wrong('', `needs an "external_id", ${id} or an "email"`)
    }
  const wrongKey = act === 'put_keys' && isOperators ? readKey(row, readKeyFile) : null
  if (wrongKey !== null) wrong(...wrongKey)
  if (act === 'revoke_keys' && (row.id === undefined) === (row.key_hash === undefined))
    wrong('', 'needs either an "id" or a "key_hash"')
  if (act !== 'put_servers') return
  const entry: Json = {}
  for (const name of [...FIELD_NAMES, 'updated_at', 'id'])
    if (row[name] !== undefined) {
      entry[name] = row[name]
      if (name !== 'id') delete row[name]
    }
  row.entry = entry
}

/** A complaint about each row of a put list whose record an earlier row has. */
function findTwice(document: Document, hand: Hand): Complaint[] {
  return ACTS.filter((act) => act.startsWith('put_')).flatMap((act) => {
    const first = new Map<string, string>()
    const rows = Array.isArray(document[act]) ? (document[act] as AnyRow[]) : []
    return rows.flatMap((row) =>
      namesOf(act, row as unknown as Json, hand).flatMap(([field, value]) => {
        const name = `${field} ${value}`
        const earlier = first.get(name)
        first.set(name, earlier ?? row.place)
        if (earlier === undefined) return []
        const told = field === 'key_hash' ? 'the same key' : quote(value)
        return [{ place: `${row.place}.${field}`, message: `is ${told}, as of ${earlier}` }]
      }),
    )
  })
}

/** The fields that name the record of a row, with their values. */
function namesOf(act: ActName, row: Json, hand: Hand): [string, string][] {
  if (act === 'put_members') {
    const user = NAMES.map((name) => row[name]).find(Boolean)
    return [['slug', [row.slug, user].join(' ')]]
  }
  const fields = {
    // The first row of a site gets an address that two have.
    put_users: hand === 'site' ? ['external_id'] : ['external_id', 'user_id', 'email'],
    put_organizations: ['slug', 'id'],
    put_servers: ['id'],
    put_keys: ['key_hash', 'id'],
  }[act as string]!
  return fields.flatMap((field) => {
    const value = row[field]
    return typeof value === 'string' ? [[field === 'user_id' ? 'id' : field, value]] : []
  })
}
