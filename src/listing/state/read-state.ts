import * as v from 'valibot'
import { findKeys } from '../leaked-keys.ts'
import { hashApiKey, prefixOf } from '../api-key.ts'
import { FIXED_PREFIX } from '../key-format.ts'
import type { Instant } from '../instant.ts'
import { quote } from '../text.ts'
import type { DeclaredKey, DeclaredState, DeclaredUser, StateComplaint } from './declared-state.ts'
import { findContradictions } from './contradictions.ts'
import { type KeyFields, keysField, type StateFields, stateField } from './state-fields.ts'

/** The text of a file that a `key_file` names, or the reason why it can't be read. */
export type ReadKeyFile = (name: string) => { text: string } | { complaint: string }

/** `state` is null if the mistakes leave nothing to compare with the database. */
export interface ReadState<State> {
  state: State | null
  complaints: StateComplaint[]
}

/** A value of these fields may be a key that was put into the wrong place. */
const UNQUOTED = new Set(['key_hash', 'key_file', 'prefix'])

/** Reads the JSON of a state file. Returns every mistake that does not depend on the database. */
export function readState(
  json: unknown,
  now: Instant,
  readKeyFile: ReadKeyFile,
): ReadState<DeclaredState> {
  const read = readFields(stateField, json, '')
  if ('complaints' in read) return { state: null, ...read }
  const complaints: StateComplaint[] = []
  const state = declared(read.fields, (place, fields) =>
    keyOf(place, fields, readKeyFile, complaints),
  )
  complaints.push(...findContradictions(state, now))
  return { state, complaints }
}

/** Reads a list of keys of one user, for `key import`. */
export function readKeys(
  json: unknown,
  email: string,
  now: Instant,
  readKeyFile: ReadKeyFile,
): ReadState<DeclaredUser> {
  const read = readFields(keysField, json, 'keys')
  if ('complaints' in read) return { state: null, ...read }
  const complaints: StateComplaint[] = []
  const keys = read.fields.map((fields, index) =>
    keyOf(`keys[${index}]`, fields, readKeyFile, complaints),
  )
  const user = { place: '', email, keys }
  complaints.push(...findContradictions({ organizations: [], users: [user] }, now))
  return { state: user, complaints }
}

function readFields<Schema extends v.GenericSchema>(
  schema: Schema,
  json: unknown,
  root: string,
): { fields: v.InferOutput<Schema> } | { complaints: StateComplaint[] } {
  const clear = findClearKeys(json, root)
  const checked = v.safeParse(schema, json)
  if (checked.success && clear.length === 0) return { fields: checked.output }
  const places = new Set(clear.map(({ place }) => place))
  const issues = (checked.issues ?? []).map((issue) => describe(issue, root))
  return { complaints: [...clear, ...issues.filter(({ place }) => !places.has(place))] }
}

function describe(issue: v.BaseIssue<unknown>, root: string): StateComplaint {
  const path = issue.path ?? []
  const place = path.reduce((before, { key }) => placeOf(before, key as string | number), root)
  const field = path.at(-1)?.key
  const { message, expected, received, input } = issue
  if (expected === 'never') return { place, message }
  if (received === 'undefined') return { place, message: 'is missing' }
  const isQuoted = message.startsWith('must') && !UNQUOTED.has(String(field))
  return { place, message: isQuoted ? `${message}, not ${quote(input)}` : message }
}

function placeOf(before: string, key: string | number): string {
  if (typeof key === 'number') return `${before}[${key}]`
  return before === '' ? key : `${before}.${key}`
}

/** Every text that has a whole key. The message does not repeat it. */
function findClearKeys(json: unknown, root: string): StateComplaint[] {
  const found: StateComplaint[] = []
  const open: { place: string; value: unknown }[] = [{ place: root, value: json }]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { place, value } = one
    if (typeof value === 'string') {
      if (findKeys(value).length > 0) found.push({ place, message: CLEAR_KEY })
    } else if (Array.isArray(value))
      open.push(...value.map((part, index) => ({ place: `${place}[${index}]`, value: part })))
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value))
        open.push({ place: placeOf(place, name), value: part })
  }
  return found.toSorted((one, other) => (one.place < other.place ? -1 : 1))
}

const CLEAR_KEY =
  'has an API key in clear. Remove it from the file, and write its SHA-256 as "key_hash" or the ' +
  'name of a file that has it as "key_file". If others can read this file, revoke the key'

/** A key of another site may have another body. The prefix must not be most of it. */
const WHOLE_KEY = new RegExp(`^${FIXED_PREFIX}[!-~]{23,}$`)

function keyOf(
  place: string,
  fields: KeyFields,
  readKeyFile: ReadKeyFile,
  complaints: StateComplaint[],
): DeclaredKey {
  const { key_hash, key_file, ...rest } = fields
  const complain = (field: string, message: string) => {
    complaints.push({ place: placeOf(place, field), message })
    return { ...rest, place, hash: '' }
  }
  if (key_hash !== undefined && key_file !== undefined)
    return complain('key_file', 'stands beside "key_hash"; a key needs one of the two')
  if (key_hash !== undefined) return { ...rest, place, hash: key_hash }
  if (key_file === undefined)
    return complain('key_hash', 'is missing; a key needs "key_hash" or "key_file"')
  const read = readKeyFile(key_file)
  if ('complaint' in read) return complain('key_file', read.complaint)
  const key = read.text.replace(/\r?\n$/, '')
  if (!WHOLE_KEY.test(key))
    return complain(
      'key_file',
      `names a file that is not one API key and a line end. A key begins with ${FIXED_PREFIX}`,
    )
  const prefix = prefixOf(key)
  if (rest.prefix !== undefined && rest.prefix !== prefix)
    return complain('prefix', 'is not how the key in "key_file" begins')
  return { ...rest, place, hash: hashApiKey(key).toString('hex'), prefix }
}

function declared(
  { organizations = [], users = [] }: StateFields,
  keyAt: (place: string, fields: KeyFields) => DeclaredKey,
): DeclaredState {
  return {
    organizations: organizations.map(({ members, ...fields }, index) => {
      const place = `organizations[${index}]`
      const listed = members?.map((member, at) => ({ ...member, place: `${place}.members[${at}]` }))
      return { ...fields, place, ...(listed === undefined ? {} : { members: listed }) }
    }),
    users: users.map(({ keys, servers, ...fields }, index) => {
      const place = `users[${index}]`
      return {
        ...fields,
        place,
        ...(keys && { keys: keys.map((key, at) => keyAt(`${place}.keys[${at}]`, key)) }),
        ...(servers && {
          servers: servers.map(({ id, organization, ...entry }, at) => ({
            place: `${place}.servers[${at}]`,
            ...(id === undefined ? {} : { id }),
            ...(organization === undefined ? {} : { organization }),
            entry: entry as DeclaredServerEntry,
          })),
        }),
      }
    }),
  }
}

type DeclaredServerEntry = NonNullable<DeclaredUser['servers']>[number]['entry']
