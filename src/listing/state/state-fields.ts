import * as v from 'valibot'
import { checkEmail, complaintAboutExternalId } from '../accounts/user.ts'
import { checkKeyName } from '../api-key.ts'
import { FIXED_PREFIX, PREFIX_LENGTH } from '../key-format.ts'
import { checkOrganizationName, complaintAboutOrganizationSlug } from '../organization.ts'
import { instantField, SERVER_ENTRY_FIELDS } from '../servers/server-entry.ts'
import { STATE_FORMAT_VERSION } from './declared-state.ts'

/*
 * The fields of a state file and what each may have. The rules for names, addresses and slugs are
 * those of the dashboard and the commands.
 */

const text = v.string('must be a string')

/** A text that another rule of the domain checks and normalizes. */
function checked(check: (value: string) => { value: string } | { complaint: string }) {
  return v.pipe(
    text,
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const result = check(dataset.value)
      if ('value' in result) return result.value
      addIssue({ message: result.complaint })
      return NEVER
    }),
  )
}

const email = checked((value) => {
  const result = checkEmail(value)
  return 'email' in result ? { value: result.email } : result
})

const externalId = checked((value) => {
  const complaint = complaintAboutExternalId(value)
  return complaint === null ? { value } : { complaint }
})

const keyName = checked((value) => {
  const result = checkKeyName(value)
  return 'name' in result ? { value: result.name } : result
})

const organizationName = checked((value) => {
  const result = checkOrganizationName(value)
  return 'name' in result ? { value: result.name } : result
})

const organizationSlug = checked((value) => {
  const complaint = complaintAboutOrganizationSlug(value)
  return complaint === null ? { value } : { complaint }
})

/** As both engines store it. */
const id = v.optional(
  v.pipe(
    text,
    v.regex(
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
      'must be a UUID with lowercase hex digits',
    ),
  ),
)

const hash = v.pipe(
  text,
  v.toLowerCase(),
  v.regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a full key: 64 hex digits (32 bytes)'),
)

/** Never longer than what the service shows, so that it does not reveal the key. */
const PREFIX = new RegExp(`^${FIXED_PREFIX}[!-~]{0,${PREFIX_LENGTH - FIXED_PREFIX.length}}$`)
const prefix = v.pipe(
  text,
  v.regex(
    PREFIX,
    `must be the first characters of the key, at most ${PREFIX_LENGTH}. It must begin with ` +
      `${FIXED_PREFIX}, because the API accepts no other keys`,
  ),
)

const instant = v.optional(instantField)
const nullableInstant = v.optional(v.nullable(instantField))

/** An object whose other fields are mistakes, each of them. */
function object<Fields extends v.ObjectEntries>(name: string, fields: Fields) {
  return v.objectWithRest(fields, v.never(`is not a field of ${name}`), 'must be an object')
}

const list = <Item extends v.GenericSchema>(item: Item) => v.array(item, 'must be an array')

const KEY = {
  id,
  name: keyName,
  key_hash: v.optional(hash),
  key_file: v.optional(text),
  prefix: v.optional(prefix),
  created_at: instant,
  revoked_at: nullableInstant,
  last_used_at: nullableInstant,
}

/** A key of a user, and one in a list of keys of many users, which names its user. */
export const keyField = object('a key', KEY)
export const namedKeyField = object('a key', {
  ...KEY,
  external_id: v.optional(externalId),
  email: v.optional(email),
})

const server = object('a server', {
  id,
  organization: v.optional(v.nullable(organizationSlug)),
  ...SERVER_ENTRY_FIELDS,
})

export const userField = object('a user', {
  id,
  external_id: v.optional(v.nullable(externalId)),
  email: v.optional(v.nullable(email)),
  created_at: instant,
  disabled_at: nullableInstant,
  keys: v.optional(list(keyField)),
  servers: v.optional(list(server)),
})

const member = object('a member', {
  id,
  external_id: v.optional(v.nullable(externalId)),
  email: v.optional(v.nullable(email)),
  role: v.picklist(['owner', 'member'], 'must be owner or member'),
  joined_at: instant,
})

export const organizationField = object('an organization', {
  id,
  slug: organizationSlug,
  name: organizationName,
  members: v.optional(list(member)),
})

/** The records are checked one after the other, so that no second copy of all is made. */
export const stateField = object('a state file', {
  format_version: v.literal(STATE_FORMAT_VERSION, `must be ${STATE_FORMAT_VERSION}`),
  organizations: v.optional(list(v.unknown())),
  users: v.optional(list(v.unknown())),
})

/** A list of keys by itself, for `key import`. */
export const keysField = list(v.unknown())

export type KeyFields = v.InferOutput<typeof keyField>
export type UserFields = v.InferOutput<typeof userField>
export type OrganizationFields = v.InferOutput<typeof organizationField>
