import type { User } from '../../listing/accounts/user.ts'
import type { ApiKey } from '../../listing/api-key.ts'
import type { Organization } from '../../listing/organization.ts'
import type { DeclaredOrganization, DeclaredUser } from '../../listing/state/declared-state.ts'
import type { StoredMember, StoredState } from '../../listing/state/state-store.ts'
import { USER_NAME, userColumns } from '../accounts/user-columns.ts'
import type { Dialect, Queries } from '../database.ts'
import { columnsOf, type RegisteredRow, toRegisteredServer } from '../servers/server-lists.ts'
import { bytes, type Sql, sql, strings, uuids } from '../sql.ts'

/** What a state names. Absent: everything. */
export interface Scope {
  organizations: readonly DeclaredOrganization[]
  users: readonly DeclaredUser[]
}

/** Users, organizations and their members. */
export type People = Pick<StoredState, 'users' | 'organizations' | 'members'>

/** Reads the records that the scope names, and those of the users that it names. */
export async function readStored(
  queries: Queries,
  dialect: Dialect,
  scope?: Scope,
): Promise<StoredState> {
  const where = conditionsOf(scope)
  const servers = await queries.all<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers WHERE ${where.servers} ORDER BY id`)
  return {
    ...(await readPeople(queries, dialect, scope)),
    servers: servers.map(toRegisteredServer),
    keys: await readKeys(queries, dialect, where.keys),
  }
}

export async function readPeople(
  queries: Queries,
  dialect: Dialect,
  scope?: Scope,
): Promise<People> {
  const { byBytes, instant } = dialect
  const where = conditionsOf(scope)
  const users = await queries.all<User>(sql`
    SELECT ${userColumns(dialect)} FROM users
    WHERE ${where.users} ORDER BY ${USER_NAME} ${byBytes}`)
  const organizations = await queries.all<Organization>(sql`
    SELECT id, slug, name FROM organizations WHERE ${where.organizations} ORDER BY slug ${byBytes}`)
  const members = await queries.all<StoredMember>(sql`
    SELECT organization_id, user_id, role, ${instant('joined_at')} FROM members
    WHERE ${where.members} ORDER BY organization_id, user_id`)
  return { users, organizations, members }
}

async function readKeys(queries: Queries, dialect: Dialect, where: Sql) {
  const keys = await queries.all<ApiKey>(
    sql`${dialect.selectApiKeys(where)} ORDER BY api_keys.created_at, id`,
  )
  const hashes = await queries.all<{ id: string; key_hash: Uint8Array }>(
    sql`SELECT id, key_hash FROM api_keys WHERE ${where}`,
  )
  const hashOf = new Map(hashes.map(({ id, key_hash }) => [id, key_hash]))
  return keys.map((key) => ({ ...key, hash: Buffer.from(hashOf.get(key.id)!).toString('hex') }))
}

type Conditions = Record<'users' | 'organizations' | 'members' | 'servers' | 'keys', Sql>

const ALL = sql`true`
const EVERYTHING: Conditions = {
  users: ALL,
  organizations: ALL,
  members: ALL,
  servers: ALL,
  keys: ALL,
}

function conditionsOf(scope: Scope | undefined): Conditions {
  return scope === undefined ? EVERYTHING : namedIn(scope)
}

const ids = (records: readonly { id?: string | undefined }[]) =>
  uuids(records.flatMap(({ id }) => (id === undefined ? [] : [id])))

function namedIn({ organizations, users }: Scope): Conditions {
  const keys = users.flatMap((user) => user.keys ?? [])
  const servers = users.flatMap((user) => user.servers ?? [])
  const hashes = keys.map(({ hash }) => Buffer.from(hash, 'hex'))
  const places = servers.flatMap(({ organization }) => organization ?? [])
  const slugs = strings([...organizations.map(({ slug }) => slug), ...places])
  const named = sql`email IN (${strings(users.map(({ email }) => email))}) OR id IN (${ids(users)})`
  const ofUsers = sql`(SELECT id FROM users WHERE ${named})`
  const organization = sql`slug IN (${slugs}) OR id IN (${ids(organizations)})
    OR id IN (SELECT organization_id FROM servers WHERE created_by IN ${ofUsers})`
  return {
    users: named,
    organizations: organization,
    members: sql`organization_id IN (SELECT id FROM organizations WHERE ${organization})`,
    servers: sql`created_by IN ${ofUsers} OR id IN (${ids(servers)})`,
    keys: sql`(user_id IN ${ofUsers} OR key_hash IN (${bytes(hashes)}) OR id IN (${ids(keys)}))`,
  }
}
