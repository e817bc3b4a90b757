import type { Instant } from '../instant.ts'
import { quote } from '../text.ts'
import type {
  DeclaredOrganization,
  DeclaredState,
  DeclaredUser,
  StateComplaint,
} from './declared-state.ts'

/** The mistakes that several fields of a file make together. */
export function findContradictions(
  { organizations, users }: DeclaredState,
  now: Instant,
): StateComplaint[] {
  const keys = users.flatMap((user) => user.keys ?? [])
  const servers = users.flatMap((user) => user.servers ?? [])
  const known = new Set(users.map(({ email }) => email))
  return [
    ...twice(organizations, 'slug', ({ slug }) => slug),
    ...twice(users, 'email', ({ email }) => email),
    ...[organizations, users, keys, servers].flatMap((records) =>
      twice<{ place: string; id?: string | undefined }>(records, 'id', ({ id }) => id),
    ),
    ...twice(keys, 'key_hash', ({ hash }) => hash || undefined, secret),
    ...organizations.flatMap((organization) => aboutMembers(organization, known)),
    ...users.flatMap(aboutServers),
    ...inFuture(users, ['created_at'], now),
    ...inFuture(keys, ['created_at', 'revoked_at', 'last_used_at'], now),
    ...inFuture(
      organizations.flatMap(({ members = [] }) => members),
      ['joined_at'],
      now,
    ),
  ]
}

const secret = () => 'the same key'

/** A complaint about each record whose value an earlier one has. */
function twice<One extends { place: string }>(
  records: readonly One[],
  field: string,
  read: (record: One) => string | undefined,
  tell: (value: string) => string = quote,
): StateComplaint[] {
  const first = new Map<string, string>()
  return records.flatMap((record) => {
    const value = read(record)
    if (value === undefined) return []
    const earlier = first.get(value)
    if (earlier === undefined) {
      first.set(value, record.place)
      return []
    }
    return [{ place: `${record.place}.${field}`, message: `is ${tell(value)}, as of ${earlier}` }]
  })
}

function aboutMembers(
  { place, members }: DeclaredOrganization,
  known: ReadonlySet<string>,
): StateComplaint[] {
  if (members === undefined) return []
  const complaints = twice(members, 'email', ({ email }) => email)
  if (!members.some(({ role }) => role === 'owner'))
    complaints.push({
      place: `${place}.members`,
      message: 'must have a member with the role "owner"',
    })
  const strangers = members.filter(({ email }) => !known.has(email))
  return [
    ...complaints,
    ...strangers.map(({ place: at, email }) => ({
      place: `${at}.email`,
      message: `must be the email address of a user in this file, not ${quote(email)}`,
    })),
  ]
}

function aboutServers({ servers = [] }: DeclaredUser): StateComplaint[] {
  const nameless = servers.filter(({ id, entry }) => id === undefined && !entry.slug)
  return nameless.map(({ place }) => ({
    place,
    message: 'needs a "slug" or an "id", so that a second run finds the same server',
  }))
}

function inFuture<Field extends string>(
  records: readonly ({ place: string } & { [Name in Field]?: Instant | null | undefined })[],
  fields: readonly Field[],
  now: Instant,
): StateComplaint[] {
  return records.flatMap((record) =>
    fields
      .filter((field) => (record[field] ?? 0) > now)
      .map((field) => ({ place: `${record.place}.${field}`, message: 'lies in the future' })),
  )
}
