import type { Instant } from '../../model/instant.ts'
import { toServer } from '../../model/server-row.ts'
import type { RegisteredServer } from '../server.ts'
import type { Dialect, Queries, Transaction } from '../../database/database.ts'
import { inUuids, raw, type Sql, sql, uuid } from '../../database/sql.ts'
import type { PlacedServer } from '../plan.ts'
import { isMember } from '../../organizations/records/organizations.ts'
import { columnsOf as columnsOfKind, saveGiven } from '../../database/given-rows.ts'
import { FIELD_NAMES, type FieldName, type FieldValues } from '../fields.ts'

/*
 * The rows of servers, and which of them are whose.
 */

/** The fields by the names of their columns. */
type FieldColumns = Omit<FieldValues, 'address'> & { host_label: string }

const columnOf = (name: FieldName): keyof FieldColumns => (name === 'address' ? 'host_label' : name)

const NAMES = FIELD_NAMES.map(columnOf)

/** The columns of the fields, with those that an answer is made from. */
export const ROW = raw(['id', ...NAMES].join(', '))
/** The same beside another table. */
export const OWN = raw(['id', ...NAMES].map((name) => `servers.${name}`).join(', '))

export const columnsOf = ({ instant }: Dialect): Sql =>
  sql`${ROW}, created_by, organization_id, ${instant('updated_at')}`

export type RegisteredRow = FieldColumns & {
  id: string
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

/** A server before a change, or null if there was none, and after it, or null if it is gone. */
export interface KeptServer {
  before: RegisteredRow | null
  after: RegisteredRow | null
}

export function toRegisteredServer(row: RegisteredRow): RegisteredServer {
  const { created_by, organization_id, updated_at } = row
  return { ...fieldsOf(row), created_by, organization_id, updated_at }
}

/** The fields of a server, those of the API first. */
export const fieldsOf = (row: FieldColumns & { id: string }): FieldValues & { id: string } => ({
  ...toServer(row),
  ...(Object.fromEntries(FIELD_NAMES.map((name) => [name, row[columnOf(name)]])) as FieldValues),
})

/** The columns of these fields. */
export const toColumns = (fields: FieldValues): FieldColumns =>
  Object.fromEntries(
    FIELD_NAMES.map((name) => [columnOf(name), fields[name]]),
  ) as unknown as FieldColumns

/** The row of a planned server, whose organization has its id. */
export function toRow({
  id,
  created_by,
  organization,
  updated_at,
  ...fields
}: PlacedServer): RegisteredRow {
  return { ...toColumns(fields), id, created_by, organization_id: organization, updated_at }
}

const COLUMNS = columnsOfKind({
  uuid: 'id created_by organization_id',
  text: NAMES.join(' '),
  instant: 'updated_at',
})

/** Makes servers what they become. The caller holds the locks of their users. */
export async function writeServers(
  transaction: Transaction,
  changes: readonly KeptServer[],
): Promise<void> {
  const removed = changes.flatMap(({ before, after }) => (after === null ? (before?.id ?? []) : []))
  if (removed.length > 0)
    await transaction.run(sql`DELETE FROM servers WHERE id ${inUuids(removed)}`)
  await saveGiven(transaction, 'servers', COLUMNS, changes)
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
