import type { Instant } from '../model/instant.ts'
import { quote } from '../model/text.ts'
import {
  complaintIn,
  type DeclaredOrganization,
  type DeclaredState,
  type DeclaredUser,
  type StateComplaint,
  userFinder,
  type UserName,
} from './declared-state.ts'

/** The mistakes that several fields of a file make together. Gives users their memberships. */
export function findContradictions(
  { organizations, users }: DeclaredState,
  now: Instant,
): StateComplaint[] {
  const keys = users.flatMap((user) => user.keys ?? [])
  const servers = users.flatMap((user) => user.servers ?? [])
  const withIds = servers.map(({ place, entry: { id } }) => ({ place, id }))
  const members = organizations.flatMap((one) => one.members ?? [])
  return [
    ...twice(organizations, 'slug', ({ slug }) => slug),
    ...twice(users, 'external_id', ({ external_id }) => external_id),
    ...twice(users, 'email', ({ email }) => email),
    ...[organizations, users, keys, withIds].flatMap((records) =>
      twice<{ place: string; id?: string | undefined }>(records, 'id', ({ id }) => id),
    ),
    ...twice(keys, 'key_hash', ({ hash }) => hash || undefined, secret),
    ...users.flatMap(aboutName),
    ...joinMembers(organizations, users),
    ...inFuture(users, ['created_at', 'disabled_at', 'banned_at'], now),
    ...inFuture(keys, ['created_at', 'revoked_at', 'last_used_at'], now),
    ...inFuture(members, ['joined_at'], now),
  ]
}

const secret = () => 'the same key'

/** A complaint about each record whose value an earlier one has. */
function twice<One extends { place: string }>(
  records: readonly One[],
  field: string,
  read: (record: One) => string | null | undefined,
  tell: (value: string) => string = quote,
): StateComplaint[] {
  const first = new Map<string, string>()
  return records.flatMap((record) => {
    const value = read(record) ?? null
    const earlier = value === null ? undefined : first.get(value)
    if (value !== null && earlier === undefined) first.set(value, record.place)
    if (value === null || earlier === undefined) return []
    return [complaintIn(record, field, `is ${tell(value)}, as of ${earlier}`)]
  })
}

/** What the file calls the user. */
const calledIn = ({ external_id, id, email }: UserName) => external_id ?? id ?? email

function aboutName(user: DeclaredUser): StateComplaint[] {
  if (calledIn(user)) return []
  return [{ place: user.place, message: 'needs an "external_id", an "id" or an "email"' }]
}

/** Gives each user of the file the memberships that organizations declare. */
function joinMembers(
  organizations: readonly DeclaredOrganization[],
  users: readonly DeclaredUser[],
): StateComplaint[] {
  const find = userFinder(users)
  return organizations.flatMap(({ place, slug, members }) => {
    if (members === undefined) return []
    const complaints: StateComplaint[] = members.some(({ role }) => role === 'owner')
      ? []
      : [{ place: `${place}.members`, message: 'must have a member with the role "owner"' }]
    for (const member of members) {
      const user = find(member)
      const earlier = user?.memberships.get(slug)
      if (user !== undefined && earlier === undefined) user.memberships.set(slug, member)
      else
        complaints.push({
          place: member.place,
          message:
            earlier === undefined
              ? `must be a user of this file, not ${quote(calledIn(member) ?? null)}`
              : `is the same user, as of ${earlier.place}`,
        })
    }
    return complaints
  })
}

function inFuture<Field extends string>(
  records: readonly ({ place: string } & { [Name in Field]?: Instant | null | undefined })[],
  fields: readonly Field[],
  now: Instant,
): StateComplaint[] {
  return records.flatMap((record) =>
    fields
      .filter((field) => (record[field] ?? 0) > now)
      .map((field) => complaintIn(record, field, 'lies in the future')),
  )
}
