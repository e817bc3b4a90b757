import type { Instant } from '../../model/instant.ts'
import { type ServerRow, toServer } from '../../model/server-row.ts'
import type { RegisteredServer } from '../server.ts'
import type { Dialect, Queries, Transaction } from '../../database/database.ts'
import { raw, type Sql, sql, uuid } from '../../database/sql.ts'
import { isMember } from '../../organizations/records/organizations.ts'

/*
 * The rows of servers, and which of them are whose.
 */

/** The columns that an answer is made from. */
export const ROW = raw('id, name, slug, host_label, edition, status, version, listing_kind')

export const columnsOf = ({ instant }: Dialect): Sql =>
  sql`${ROW}, created_by, organization_id, ${instant('updated_at')}`

export type RegisteredRow = ServerRow & {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

export function toRegisteredServer(row: RegisteredRow): RegisteredServer {
  const { created_by, organization_id, updated_at } = row
  return { ...toServer(row), created_by, organization_id, updated_at }
}

export const isOwn = (userId: string): Sql => sql`created_by = ${uuid(userId)}`

/** The user's servers outside every organization. */
export const isPersonal = (userId: string): Sql => sql`${isOwn(userId)} AND organization_id IS NULL`

/** The number of servers that the user registered, personally or under organizations. */
export async function countOwned(queries: Queries, userId: string): Promise<number> {
  const row = await queries.get<{ owned: number }>(
    sql`SELECT count(*) AS owned FROM servers WHERE ${isOwn(userId)}`,
  )
  return row!.owned
}

/** Whether the user is a member of the organization that a server is under. */
export const isOfMember = (userId: string): Sql => sql`EXISTS
  (SELECT 1 FROM members WHERE organization_id = servers.organization_id AND user_id = ${uuid(userId)})`

/** An organization, or null for the user's personal servers. */
export const placeOf = (organizationId: string | null): Sql =>
  organizationId === null ? sql`NULL` : sql`${uuid(organizationId)}`

/**
 * True for personal servers, and for an organization if the user is a member until the transaction
 * ends.
 */
export async function canRegisterIn(
  transaction: Transaction,
  userId: string,
  organizationId: string | null,
): Promise<boolean> {
  if (organizationId === null) return true
  await transaction.lock('organizations', [organizationId], 'keep')
  const member = await transaction.get(sql`SELECT 1 WHERE ${isMember(userId, organizationId)}`)
  return member !== null
}
