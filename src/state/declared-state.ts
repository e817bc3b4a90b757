import type { ServerEntry } from '../servers/server-entry.ts'
import type {
  KeyFields,
  MemberFields,
  OrganizationFields,
  ServerFields,
  UserFields,
} from './state-fields.ts'

/** A mistake and its place in the file, such as `users[2].keys[0].key_hash`. */
export interface StateComplaint {
  place: string
  message: string
}

export const complaintIn = (
  { place }: { place: string },
  field: string,
  message: string,
): StateComplaint => ({ place: `${place}.${field}`, message })

/** What a state file declares. A list that is left out declares nothing. */
export interface DeclaredState {
  organizations: DeclaredOrganization[]
  users: DeclaredUser[]
}

export type DeclaredRecord = DeclaredOrganization | DeclaredUser

/** Every record knows its place in the file. */
type Placed<Fields> = Fields & { place: string }

/** The fields that name a user: the first of them that is known does. */
export type UserName = Partial<Pick<UserFields, 'external_id' | 'id' | 'email'>>

/** Names a user of the file. */
export type DeclaredMember = Placed<MemberFields>

export type DeclaredOrganization = Placed<Omit<OrganizationFields, 'members'>> & {
  members?: DeclaredMember[] | undefined
}

/** An instant in `disabled_at` disables the user, and in `banned_at` bans; null takes it back. */
export type DeclaredUser = Placed<Omit<UserFields, 'keys' | 'servers'>> & {
  /** By the slug of the organization. */
  memberships: Map<string, DeclaredMember>
  keys?: DeclaredKey[] | undefined
  servers?: DeclaredServer[] | undefined
}

/** A key by its hash. The instants count for a new key only, except that `revoked_at` revokes. */
export type DeclaredKey = Placed<Omit<KeyFields, 'key_hash' | 'key_file'>> & {
  /** SHA-256 of the full key, in lowercase hex. */
  hash: string
}

/** `organization` is a slug, or null. Absent: where the server is, and personal if it is new. */
export type DeclaredServer = Placed<Pick<ServerFields, 'organization'>> & {
  entry: ServerEntry
}

export const isOrganization = (record: DeclaredRecord): record is DeclaredOrganization =>
  'slug' in record

/**
 * Finds the user whom a name means. An address alone does not mean a user to whom the site gave
 * another external id.
 */
export function userFinder<User extends UserName>(users: readonly User[]) {
  const by = (field: keyof UserName) =>
    new Map(users.flatMap((user) => (user[field] ? [[user[field], user] as const] : [])))
  const [byExternalId, byId, byEmail] = [by('external_id'), by('id'), by('email')]
  return ({ external_id, id, email }: UserName): User | undefined => {
    const known = byExternalId.get(external_id ?? '') ?? byId.get(id ?? '')
    const addressed = byEmail.get(email ?? '')
    return known ?? (external_id && addressed?.external_id ? undefined : addressed)
  }
}
