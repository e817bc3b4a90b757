import * as v from 'valibot'
import { EXTERNAL_ID_LENGTH_MAX } from '../accounts/user.ts'
import { checkEmail } from '../model/email.ts'
import type { Instant } from '../model/instant.ts'
import { FIXED_PREFIX, KEY_NAME_LENGTH_MAX, PREFIX_LENGTH } from '../model/key-format.ts'
import { quote } from '../model/text.ts'
import {
  complaintAboutOrganizationSlug,
  ORGANIZATION_NAME_LENGTH_MAX,
} from '../organizations/organization.ts'
import { FIELD_NAMES, type FieldName, ruleOf } from '../servers/fields.ts'
import { instantField, readValue } from '../servers/server-entry.ts'
import type { ActName, Hand } from './document.ts'

/*
 * The fields of each act, and what each may have.
 */

/** A field is needed by each hand (`*`) or by a site's (`+`), and may be null (`?`). */
const FIELDS: Record<ActName | 'all_servers_of', string> = {
  put_users: 'external_id+ email? created_at banned_at?',
  put_organizations: 'slug* name* external_id+',
  put_members: 'slug* external_id+ role* joined_at',
  put_servers: `id+ external_id+ name* address* slug? edition status version? listing_kind?
    organization? updated_at`,
  put_keys: 'external_id+ name* key_hash+ prefix created_at revoked_at?',
  revoke_keys: 'external_id+ id key_hash',
  remove_servers: 'id*',
  remove_members: 'slug* external_id+',
  remove_organizations: 'slug*',
  remove_users: 'external_id+',
  all_servers_of: 'external_id+',
}

/** What an operator's rows may have beside these and the other names of a user. */
const OPERATORS: { [Act in ActName]?: string } = {
  put_users: 'external_id? disabled_at?',
  put_organizations: 'id',
  put_keys: 'id key_file last_used_at?',
}

export interface Field {
  /** In a row that is read. */
  name: string
  isNeeded: boolean
  isNullable: boolean
  /** Undefined leaves the field out. */
  read(text: string): string | Instant | null | undefined | { complaint: string }
}

/** The fields of an act by their names in a document. */
export function fieldsOf(act: ActName | 'all_servers_of', hand: Hand): Map<string, Field> {
  const fields = new Map<string, Field>()
  const add = (list: string) => {
    for (const [, name = '', mark] of list.matchAll(/(\w+)([*+?]?)/g))
      fields.set(name, {
        name: isOfUser(act) && name === 'id' ? 'user_id' : name,
        isNeeded: mark === '*' || (mark === '+' && hand === 'site'),
        isNullable: mark === '?',
        read: readerOf(act, name, hand),
      })
  }
  add(FIELDS[act])
  if (hand === 'site') return fields
  if (fields.has('external_id')) add(isOfUser(act) ? 'id email?' : 'user_id email')
  add(OPERATORS[act as ActName] ?? '')
  return fields
}

/** Whether rows of this act are users. */
const isOfUser = (act: string) => act.endsWith('_users')

const isServerField = (name: string): name is FieldName => FIELD_NAMES.includes(name as FieldName)

function readerOf(act: string, name: string, hand: Hand): Field['read'] {
  if (act === 'put_servers' && isServerField(name))
    return hand === 'site' ? (text) => text : (text) => readServerField(name, text)
  if (name.endsWith('_at')) return readInstant
  if (name === 'email') return hand === 'site' ? (text) => text : readEmail
  const read = act === 'put_keys' && name === 'name' ? key : READERS[name]
  return read ?? ((text) => text)
}

/** As an import takes it. */
function readServerField(name: FieldName, text: string): ReturnType<Field['read']> {
  const { complain, initial } = ruleOf(name)
  const value = readValue(text)
  if (value === null) return initial === null && name !== 'slug' ? null : undefined
  const complaint = complain(value)
  return complaint === null ? value : { complaint: `${complaint}, not ${quote(value)}` }
}

function readInstant(text: string): Instant | { complaint: string } {
  const { success, output, issues } = v.safeParse(instantField, text)
  return success ? output : { complaint: issues[0].message }
}

function readEmail(text: string): string | { complaint: string } {
  const checked = checkEmail(text)
  return 'email' in checked ? checked.email : checked
}

/** A line of text. The complaint does not repeat it, because it may be a key. */
const line =
  (codePointsMax: number, isTrimmed: boolean): Field['read'] =>
  (given) => {
    const text = isTrimmed ? given.trim() : given
    const length = text.length <= codePointsMax ? text.length : [...text].length
    if (length < 1 || length > codePointsMax)
      return { complaint: `must have 1 to ${codePointsMax} characters, not ${length}` }
    return /\p{Cc}/u.test(text) ? { complaint: 'must have no control characters' } : text
  }

const key = line(KEY_NAME_LENGTH_MAX, true)

const matching =
  (pattern: RegExp, complaint: string): Field['read'] =>
  (text) =>
    pattern.test(text) ? text.toLowerCase() : { complaint }

/** In either case, as PostgreSQL reads one. Both engines store lower case. */
const uuid = matching(
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'must be a UUID (8-4-4-4-12 hex digits)',
)

/** Never longer than what the service shows, so that it does not reveal the key. */
const PREFIX = new RegExp(`^${FIXED_PREFIX}[!-~]{0,${PREFIX_LENGTH - FIXED_PREFIX.length}}$`)

function slug(text: string): string | { complaint: string } {
  const complaint = complaintAboutOrganizationSlug(text)
  return complaint === null ? text : { complaint }
}

const READERS: Record<string, Field['read']> = {
  external_id: line(EXTERNAL_ID_LENGTH_MAX, false),
  id: uuid,
  user_id: uuid,
  slug,
  organization: slug,
  name: line(ORGANIZATION_NAME_LENGTH_MAX, true),
  role: (text) =>
    text === 'owner' || text === 'member' ? text : { complaint: 'must be owner or member' },
  key_hash: matching(
    /^[0-9a-f]{64}$/i,
    'must be the SHA-256 of a full key: 64 hex digits (32 bytes)',
  ),
  prefix: (text) =>
    PREFIX.test(text)
      ? text
      : {
          complaint:
            `must be the first characters of the key, at most ${PREFIX_LENGTH}. It must begin ` +
            `with ${FIXED_PREFIX}, because the API accepts no other keys`,
        },
}
