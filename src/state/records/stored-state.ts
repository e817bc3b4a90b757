import type { User } from '../../accounts/user.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import type { Instant } from '../../model/instant.ts'
import type { Organization } from '../../organizations/organization.ts'
import { type DeclaredState, type DeclaredUser, userFinder } from '../declared-state.ts'
import type { StoredKey, StoredMember, StoredState } from '../state-store.ts'
import { userColumns } from '../../accounts/records/user-columns.ts'
import type { Dialect, Queries } from '../../database/database.ts'
import {
  columnsOf,
  type RegisteredRow,
  toRegisteredServer,
} from '../../servers/records/server-rows.ts'
import { inBytes, inStrings, inUuids, type Sql, sql, uuid } from '../../database/sql.ts'

const idsOf = (records: readonly { id?: string | undefined }[]) =>
  records.flatMap(({ id }) => id ?? [])

/** The users that these records mean. */
export const isNamed = (users: readonly DeclaredUser[]): Sql => sql`
  (external_id ${inStrings(users.flatMap((one) => one.external_id ?? []))}
  OR id ${inUuids(idsOf(users))} OR email ${inStrings(users.flatMap(({ email }) => email ?? []))})`

/**
 * The stored records that these records mean, and those of their users. A constant number of
 * queries, however many records there are.
 */
export async function readStored(
  queries: Queries,
  dialect: Dialect,
  { users: named, organizations: placed }: DeclaredState,
  isMeant = isNamed(named),
) {
  const declaredKeys = named.flatMap((user) => user.keys ?? [])
  const declaredServers = named.flatMap((user) => user.servers ?? [])
  const hashes = inBytes(declaredKeys.map(({ hash }) => Buffer.from(hash, 'hex')))
  const users = await queries.all<User>(
    sql`SELECT ${userColumns(dialect)} FROM users WHERE ${isMeant}`,
  )
  const ids = inUuids(idsOf(users))
  const members = await readMembers(queries, dialect, sql`user_id ${ids}`)
  // A list of keys needs no servers.
  const owners = named.some((user) => user.servers) ? ids : inUuids([])
  const servers = await readServers(
    queries,
    dialect,
    sql`(created_by ${owners} OR id ${inUuids(idsOf(declaredServers.map(({ entry }) => entry)))})`,
  )
  const slugs = [
    ...placed.map(({ slug }) => slug),
    ...named.flatMap(({ memberships }) => [...memberships.keys()]),
    ...declaredServers.flatMap(({ organization }) => organization ?? []),
  ]
  const places = [...servers, ...members].flatMap(({ organization_id }) => organization_id ?? [])
  const organizations = await queries.all<Organization>(sql`
    SELECT id, slug, name FROM organizations WHERE slug ${inStrings([...new Set(slugs)])}
    OR id ${inUuids([...new Set([...idsOf(placed), ...places])])}`)
  const keys = await readKeys(
    queries,
    dialect,
    sql`(user_id ${ids} OR key_hash ${hashes} OR id ${inUuids(idsOf(declaredKeys))})`,
  )
  const listed = await queries.all<{ key_hash: Uint8Array; revoked_at: Instant }>(sql`
    SELECT key_hash, ${dialect.instant('revoked_at')} FROM revoked_hashes
    WHERE key_hash ${hashes}`)
  const organizationsById = new Map(organizations.map((one) => [one.id, one]))
  const keysOf = Map.groupBy(keys, ({ user_id }) => user_id)
  const serversOf = Map.groupBy(servers, ({ created_by }) => created_by)
  const membersOf = Map.groupBy(members, ({ user_id }) => user_id)
  return {
    findUser: userFinder(users),
    organizationsById,
    slugOf: (id: string | null) => organizationsById.get(id ?? '')?.slug ?? null,
    organizationsBySlug: new Map(organizations.map((one) => [one.slug, one])),
    keysByHash: new Map(keys.map((key) => [key.hash, key])),
    keysById: new Map(keys.map((key) => [key.id, key])),
    serversById: new Map(servers.map((server) => [server.id, server])),
    membersOf: (userId: string) => membersOf.get(userId) ?? [],
    keysOf: (userId: string) => keysOf.get(userId) ?? [],
    serversOf: (userId: string) => serversOf.get(userId) ?? [],
    /** The hashes of the file that are in the list of revocations. */
    revocations: new Map(listed.map((one) => [hexOf(one.key_hash), one.revoked_at])),
  }
}

export type Stored = Awaited<ReturnType<typeof readStored>>

const hexOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** Records per query of an export. The transaction is idle while the text of a part is made. */
const PART_MAX = 200
/** Less than any id. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Everything, in parts. */
export async function readParts(
  queries: Queries,
  dialect: Dialect,
  onPart: (part: StoredState) => void,
): Promise<void> {
  const none = { users: [], organizations: [], members: [], servers: [], keys: [] }
  for await (const organizations of pagesOf(queries, sql`id, slug, name FROM organizations`)) {
    const where = sql`organization_id ${inUuids(idsOf(organizations))}`
    const members = await readMembers(queries, dialect, where)
    onPart({ ...none, organizations: organizations as Organization[], members })
  }
  for await (const users of pagesOf(queries, sql`${userColumns(dialect)} FROM users`)) {
    const ids = inUuids(idsOf(users))
    const servers = await readServers(queries, dialect, sql`created_by ${ids}`)
    const keys = await readKeys(queries, dialect, sql`user_id ${ids}`)
    onPart({ ...none, users: users as User[], servers, keys })
  }
}

async function* pagesOf(queries: Queries, select: Sql): AsyncGenerator<{ id: string }[]> {
  let last = FIRST
  for (;;) {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT ${select} WHERE id > ${uuid(last)} ORDER BY id LIMIT ${PART_MAX}`,
    )
    if (rows.length > 0) yield rows
    if (rows.length < PART_MAX) return
    last = rows.at(-1)!.id
  }
}

async function readMembers(queries: Queries, { instant }: Dialect, where: Sql) {
  return queries.all<StoredMember>(sql`
    SELECT organization_id, user_id, email, external_id, role, ${instant('joined_at')}
    FROM members JOIN users ON users.id = user_id WHERE ${where} ORDER BY organization_id, user_id`)
}

async function readServers(queries: Queries, dialect: Dialect, where: Sql) {
  const rows = await queries.all<RegisteredRow>(
    sql`SELECT ${columnsOf(dialect)} FROM servers WHERE ${where} ORDER BY id`,
  )
  return rows.map(toRegisteredServer)
}

async function readKeys(queries: Queries, dialect: Dialect, where: Sql): Promise<StoredKey[]> {
  const keys = await queries.all<ApiKey>(
    sql`${dialect.selectApiKeys(where)} ORDER BY api_keys.created_at, id`,
  )
  const hashes = await queries.all<{ id: string; key_hash: Uint8Array }>(
    sql`SELECT id, key_hash FROM api_keys WHERE ${where}`,
  )
  const hashOf = new Map(hashes.map(({ id, key_hash }) => [id, hexOf(key_hash)]))
  return keys.map((key) => ({ ...key, hash: hashOf.get(key.id)! }))
}
