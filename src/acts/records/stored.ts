import { userColumns } from '../../accounts/records/user-columns.ts'
import type { Dialect, Queries } from '../../database/database.ts'
import { at, inBytes, inStrings, inUuids, type Sql, sql } from '../../database/sql.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import type { Instant } from '../../model/instant.ts'
import type { Organization, Role } from '../../organizations/organization.ts'
import type { PlacedServer } from '../../servers/plan.ts'
import {
  columnsOf,
  type RegisteredRow,
  toRegisteredServer,
} from '../../servers/records/server-rows.ts'
import type { Document, Hand, Named } from '../document.ts'
import { siteEmail } from '../email.ts'
import { userFinder } from '../find-user.ts'
import type { SiteUser } from '../user.ts'

export interface StoredMember {
  slug: string
  user_id: string
  role: Role
  joined_at: Instant
  /** That of the user. */
  external_id: string | null
  organization_id?: string
}

export interface StoredKey extends Omit<ApiKey, 'last_used_at'> {
  /** SHA-256 of the full key, in lowercase hex. */
  hash: string
  /** Of a new key. */
  last_used_at?: Instant | null
}

const some = (values: readonly (string | null | undefined)[]): string[] => [
  ...new Set(values.filter((value) => typeof value === 'string')),
]

/** All rows of a document, with what they may name. */
const rowsIn = (document: Document): (Named & { slug?: string; organization?: string | null })[] =>
  Object.values(document).flatMap((rows) => (rows === true ? [] : (rows as Named[])))

const serversIn = ({ put_servers = [], remove_servers = [] }: Document): string[] =>
  some([...put_servers, ...remove_servers].map(({ id }) => id))

/** The slugs of organizations whose members can change. */
const organizationsIn = (document: Document): string[] =>
  some(rowsIn(document).map(({ slug }) => slug))

/** Which users a document names, and who has a server or an address of it. */
export async function usersMeant(queries: Queries, document: Document, hand: Hand): Promise<Sql> {
  const named = rowsIn(document)
  const emails = (document.put_users ?? []).map(({ email }) => email && siteEmail(email))
  if (hand === 'operator') emails.push(...named.map(({ email }) => email))
  const owners = await queries.all<{ created_by: string }>(
    sql`SELECT DISTINCT created_by FROM servers WHERE id ${inUuids(serversIn(document))}`,
  )
  const ids = [...named.map(({ user_id }) => user_id), ...owners.map((one) => one.created_by)]
  return sql`(external_id ${inStrings(some(named.map(({ external_id }) => external_id)))}
    OR email ${inStrings(some(emails))} OR id ${inUuids(some(ids))})`
}

/** Which organizations a document names. */
export function organizationsMeant(document: Document): Sql {
  const { put_organizations = [] } = document
  const places = some(rowsIn(document).map(({ organization }) => organization))
  return sql`(slug ${inStrings(some([...organizationsIn(document), ...places]))}
    OR id ${inUuids(some(put_organizations.map(({ id }) => id)))})`
}

/** The stored rows that a document means. A constant number of queries, however many there are. */
export async function readStored(
  queries: Queries,
  dialect: Dialect,
  document: Document,
  { hand, now }: { hand: Hand; now: Instant },
  isMeant: Sql,
) {
  const users = await queries.all<SiteUser>(sql`
    SELECT ${userColumns(dialect)}, ${dialect.instant('banned_at')} FROM users WHERE ${isMeant}`)
  const { find, add } = userFinder(users, hand)
  // Other rows may name a user by what put_users gives.
  for (const { external_id, email, ...row } of document.put_users ?? []) {
    const user = find({ external_id, email, ...row } as Named)
    if (user !== undefined)
      add({ ...user, external_id: external_id ?? user.external_id, email: email ?? user.email })
  }
  const idsIn = (rows: readonly Named[] = []) => inUuids(some(rows.map((row) => find(row)?.id)))
  const organizations = await queries.all<Organization>(
    sql`SELECT id, slug, name FROM organizations WHERE ${organizationsMeant(document)}`,
  )
  const placesOf = (slugs: readonly string[]) => {
    const wanted = new Set(slugs)
    return inUuids(organizations.flatMap(({ id, slug }) => (wanted.has(slug) ? id : [])))
  }
  const { put_servers = [], all_servers_of = [], remove_organizations = [] } = document
  // A site names each server by its id.
  const owners = hand === 'site' ? all_servers_of : [...put_servers, ...all_servers_of]
  const servers = await queries.all<RegisteredRow & { organization: string | null }>(sql`
    SELECT ${columnsOf(dialect)}, (
      SELECT organizations.slug FROM organizations WHERE organizations.id = organization_id
    ) AS organization FROM servers
    WHERE id ${inUuids(serversIn(document))} OR created_by ${idsIn(owners)}
      OR organization_id ${placesOf(remove_organizations.map(({ slug }) => slug))} ORDER BY id`)
  const members = await queries.all<StoredMember>(sql`
      SELECT organization_id, slug, user_id, role, ${dialect.instant('joined_at')}, external_id FROM members
      JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = user_id
      WHERE user_id ${idsIn(rowsIn(document))}
        OR role = 'owner' AND organization_id ${placesOf(organizationsIn(document))}`)
  return {
    users,
    organizations,
    /** The ids of organizations by their slugs, also of those that the document does not name. */
    places: new Map([
      ...organizations.map(({ slug, id }) => [slug, id] as const),
      ...members.map(({ slug, organization_id }) => [slug, organization_id!] as const),
      ...servers.map((one) => [one.organization, one.organization_id!] as const),
    ]),
    members,
    servers: servers.map(({ organization, ...row }): PlacedServer => {
      const { organization_id: _, ...server } = toRegisteredServer(row)
      return { ...server, organization }
    }),
    ...(await readKeys(queries, dialect, document, idsIn)),
    /** Of the owners of new keys, those with an operator's right from the identity provider. */
    operators: hand === 'site' ? await readOperators(queries, idsIn(document.put_keys), now) : null,
  }
}

export type Stored = Awaited<ReturnType<typeof readStored>>

async function readKeys(
  queries: Queries,
  { instant }: Dialect,
  { put_keys = [], revoke_keys = [] }: Document,
  idsIn: (rows: readonly Named[]) => ReturnType<typeof inUuids>,
) {
  const rows = [...put_keys, ...revoke_keys]
  const named = some(rows.map(({ key_hash }) => key_hash))
  const hashes = inBytes(named.map((hash) => Buffer.from(hash, 'hex')))
  const keys = await queries.all<Omit<StoredKey, 'hash'> & { key_hash: Uint8Array }>(sql`
    SELECT id, user_id, name, prefix, key_hash, ${instant('created_at')}, ${instant('revoked_at')}
    FROM api_keys WHERE user_id ${idsIn(put_keys)} OR key_hash ${hashes}
      OR id ${inUuids(some(rows.map(({ id }) => id)))}`)
  const listed = await queries.all<{ key_hash: Uint8Array; revoked_at: Instant }>(
    sql`SELECT key_hash, ${instant('revoked_at')} FROM revoked_hashes WHERE key_hash ${hashes}`,
  )
  return {
    keys: keys.map(({ key_hash, ...key }): StoredKey => ({ ...key, hash: hexOf(key_hash) })),
    /** The hashes of the document that are in the list of revocations. */
    revocations: new Map(listed.map((one) => [hexOf(one.key_hash), one.revoked_at])),
  }
}

async function readOperators(
  queries: Queries,
  ids: ReturnType<typeof inUuids>,
  now: Instant,
): Promise<Set<string>> {
  const rows = await queries.all<{ user_id: string }>(
    sql`SELECT user_id FROM sessions WHERE user_id ${ids} AND operator_until > ${at(now)}`,
  )
  return new Set(rows.map(({ user_id }) => user_id))
}

const hexOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
