import * as v from 'valibot'
import { complaintAboutExternalId } from '../accounts/user.ts'
import { checkEmail } from '../model/email.ts'
import { checkKeyName } from '../keys/api-key.ts'
import { FIXED_PREFIX, PREFIX_LENGTH } from '../model/key-format.ts'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
} from '../organizations/organization.ts'
import { entrySchema, instantField } from '../servers/server-entry.ts'

/** The version of the format of a state file. */
export const STATE_FORMAT_VERSION = 1

/*
 * The fields of a state file and what each may have. The rules for names, addresses and slugs are
 * those of the dashboard and the commands.
 */

const text = v.string('must be a string')

/**
 * A text that another rule of the domain checks. The rule returns a complaint, or null, or the
 * normalized text under any name.
 */
function checked(check: (value: string) => Record<string, string> | string | null) {
  return v.pipe(
    text,
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const result = check(dataset.value)
      if (result === null) return dataset.value
      const { complaint, ...value } = typeof result === 'string' ? { complaint: result } : result
      if (complaint === undefined) return Object.values(value)[0]!
      addIssue({ message: complaint })
      return NEVER
    }),
  )
}

const nullable = <Schema extends v.GenericSchema>(field: Schema) => v.optional(v.nullable(field))
const email = checked(checkEmail)
const externalId = checked(complaintAboutExternalId)
const organizationSlug = checked(complaintAboutOrganizationSlug)

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

/** What names a user. */
const NAMES = { id, external_id: nullable(externalId), email: nullable(email) }

/** An object whose other fields are mistakes, each of them. */
function object<Fields extends v.ObjectEntries>(
  name: string,
  fields: Fields,
): v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<Fields, undefined>>> {
  return v.objectWithRest(fields, v.never(`is not a field of ${name}`), 'must be an object')
}

const list = <Item extends v.GenericSchema>(item: Item) => v.array(item, 'must be an array')

const KEY = {
  id,
  name: checked(checkKeyName),
  key_hash: v.optional(hash),
  key_file: v.optional(text),
  prefix: v.optional(prefix),
  created_at: instant,
  revoked_at: nullable(instantField),
  last_used_at: nullable(instantField),
}

/** A key of a user, and one in a list of keys of many users, which names its user. */
export const keyField = object('a key', KEY)
const NAMED_KEY = { ...KEY, external_id: v.optional(externalId), email: v.optional(email) }
export const namedKeyField = object('a key', NAMED_KEY)
/** The columns of a table of keys. */
export const KEY_COLUMNS: readonly string[] = Object.keys(NAMED_KEY)

const server = entrySchema((entry) =>
  object('a server', { id, organization: nullable(organizationSlug), ...entry }),
)

export const userField = object('a user', {
  ...NAMES,
  created_at: instant,
  disabled_at: nullable(instantField),
  banned_at: nullable(instantField),
  keys: v.optional(list(keyField)),
  servers: v.optional(list(server)),
})

const member = object('a member', {
  ...NAMES,
  role: v.picklist(['owner', 'member'], 'must be owner or member'),
  joined_at: instant,
})

export const organizationField = object('an organization', {
  id,
  slug: organizationSlug,
  name: checked(checkOrganizationName),
  members: v.optional(list(member)),
})

/** The records are checked one after the other, so that no second copy of all is made. */
export const stateField = object('a state file', {
  format_version: v.literal(STATE_FORMAT_VERSION, `must be ${STATE_FORMAT_VERSION}`),
  organizations: v.optional(list(v.unknown())),
  users: v.optional(list(v.unknown())),
})

export type KeyFields = v.InferOutput<typeof keyField>
export type UserFields = v.InferOutput<typeof userField>
export type ServerFields = v.InferOutput<typeof server>
export type MemberFields = v.InferOutput<typeof member>
export type OrganizationFields = v.InferOutput<typeof organizationField>
