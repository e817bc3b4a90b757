import * as v from 'valibot'
import { findKeys } from '../keys/leaked-keys.ts'
import { prefixOf } from '../keys/api-key.ts'
import { hashApiKey } from '../model/key-hash.ts'
import { FIXED_PREFIX } from '../model/key-format.ts'
import type { Instant } from '../model/instant.ts'
import type { ServerEntry } from '../servers/server-entry.ts'
import { quote } from '../model/text.ts'
import {
  complaintIn,
  type DeclaredKey,
  type DeclaredState,
  type DeclaredUser,
  type StateComplaint,
} from './declared-state.ts'
import { findContradictions } from './contradictions.ts'
import * as fields from './state-fields.ts'

/** The text of a file that a `key_file` names, or the reason why it can't be read. */
export type ReadKeyFile = (name: string) => { text: string } | { complaint: string }

/** `state` is null if the mistakes leave nothing to compare with the database. */
export interface ReadState {
  state: DeclaredState | null
  complaints: readonly StateComplaint[]
}

/** A value of these fields may be a key that was put into the wrong place. */
const UNQUOTED = new Set(['key_hash', 'key_file', 'prefix'])

/**
 * Reads the JSON of a state file. Returns every mistake that does not depend on the database. Takes
 * the records out of the JSON, which may have hundreds of thousands.
 */
export function readState(json: unknown, now: Instant, readKeyFile: ReadKeyFile): ReadState {
  const mistakes: StateComplaint[] = []
  const read = readRecord(fields.stateField, json, '', mistakes)
  if (read === null) return { state: null, complaints: mistakes }
  const { organizationField, userField } = fields
  const organizations = readEach(organizationField, read.organizations, 'organizations', mistakes)
  const users = readEach(userField, read.users, 'users', mistakes)
  if (mistakes.length > 0) return { state: null, complaints: mistakes }
  const state = {
    organizations: placed(organizations, 'organizations').map((one) => {
      return { ...one, members: one.members && placed(one.members, `${one.place}.members`) }
    }),
    users: placed(users, 'users').map((user) => userOf(user, readKeyFile, mistakes)),
  }
  return { state, complaints: [...mistakes, ...findContradictions(state, now)] }
}

/** A key of a list, with its place there. */
export interface ListedKey {
  place: string
  json: unknown
}

/** Reads keys for `key import`: of this user, or each with its own external id or address. */
export function readKeys(
  listed: readonly ListedKey[],
  userId: string | null,
  now: Instant,
  readKeyFile: ReadKeyFile,
): ReadState {
  const mistakes: StateComplaint[] = []
  const users = new Map<string, DeclaredUser & { keys: DeclaredKey[] }>()
  for (const { place, json } of listed) {
    const { namedKeyField, keyField } = fields
    const field: typeof namedKeyField = userId === null ? namedKeyField : keyField
    const read = readRecord(field, json, place, mistakes)
    if (read === null) continue
    const { external_id, email, ...rest } = read
    if (userId === null && (external_id === undefined) === (email === undefined)) {
      mistakes.push({
        place,
        message: 'needs either "external_id" or "email", because the command has no --user',
      })
      continue
    }
    const name = JSON.stringify([external_id, email])
    const key = keyOf({ ...rest, place }, readKeyFile, mistakes)
    const known = users.get(name)
    if (known !== undefined) known.keys.push(key)
    else {
      const id = userId ?? undefined
      users.set(name, { place, id, external_id, email, memberships: new Map(), keys: [key] })
    }
  }
  if (mistakes.length > 0) return { state: null, complaints: mistakes }
  const state = { organizations: [], users: [...users.values()] }
  return { state, complaints: findContradictions(state, now) }
}

/** The records without mistakes. Each leaves the list once it is read. */
function readEach<Schema extends v.GenericSchema>(
  schema: Schema,
  list: unknown[] = [],
  name: string,
  mistakes: StateComplaint[],
): v.InferOutput<Schema>[] {
  return list.flatMap((json, at) => {
    list[at] = undefined
    return readRecord(schema, json, `${name}[${at}]`, mistakes) ?? []
  })
}

function readRecord<Schema extends v.GenericSchema>(
  schema: Schema,
  json: unknown,
  place: string,
  mistakes: StateComplaint[],
): v.InferOutput<Schema> | null {
  const clear = place === '' ? [] : findClearKeys(json, place)
  const checked = v.safeParse(schema, json)
  if (checked.success && clear.length === 0) return checked.output
  const places = new Set(clear.map((one) => one.place))
  const issues = (checked.issues ?? []).map((issue) => describe(issue, place))
  for (const one of clear) mistakes.push(one)
  for (const one of issues) if (!places.has(one.place)) mistakes.push(one)
  return null
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
    } else if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value)
      for (const [name, part] of Object.entries(value))
        open.push({ place: placeOf(place, isList ? Number(name) : name), value: part })
    }
  }
  return found.toSorted((one, other) => (one.place < other.place ? -1 : 1))
}

const CLEAR_KEY =
  'has an API key in clear. Remove it from the file, and write its SHA-256 as "key_hash" or the ' +
  'name of a file that has it as "key_file". If others can read this file, revoke the key'

/** A key of another site may have another body. The prefix must not be most of it. */
const WHOLE_KEY = new RegExp(`^${FIXED_PREFIX}[!-~]{23,}$`)

function keyOf(
  { key_hash, key_file, ...rest }: fields.KeyFields & { place: string },
  readKeyFile: ReadKeyFile,
  complaints: StateComplaint[],
): DeclaredKey {
  const complain = (field: string, message: string) => {
    complaints.push(complaintIn(rest, field, message))
    return { ...rest, hash: '' }
  }
  if (key_hash !== undefined && key_file !== undefined)
    return complain('key_file', 'stands beside "key_hash"; a key needs one of the two')
  if (key_hash !== undefined) return { ...rest, hash: key_hash }
  if (key_file === undefined)
    return complain('key_hash', 'is missing; a key needs "key_hash" or "key_file"')
  const file = readKeyFile(key_file)
  if ('complaint' in file) return complain('key_file', file.complaint)
  const key = file.text.replace(/\r?\n$/, '')
  if (!WHOLE_KEY.test(key))
    return complain(
      'key_file',
      `names a file that is not one API key and a line end. A key begins with ${FIXED_PREFIX}`,
    )
  const prefix = prefixOf(key)
  if (rest.prefix !== undefined && rest.prefix !== prefix)
    return complain('prefix', 'is not how the key in "key_file" begins')
  return { ...rest, hash: hashApiKey(key).toString('hex'), prefix }
}

const placed = <One extends object>(list: readonly One[], place: string) =>
  list.map((one, at) => ({ ...one, place: `${place}[${at}]` }))

function userOf(
  { keys, servers, ...own }: fields.UserFields & { place: string },
  readKeyFile: ReadKeyFile,
  mistakes: StateComplaint[],
): DeclaredUser {
  const listed = keys && placed(keys, `${own.place}.keys`)
  const owned = servers && placed(servers, `${own.place}.servers`)
  return {
    ...own,
    memberships: new Map(),
    keys: listed?.map((key) => keyOf(key, readKeyFile, mistakes)),
    servers: owned?.map(({ place, organization, ...entry }) => {
      return { place, organization, entry: entry as ServerEntry }
    }),
  }
}
