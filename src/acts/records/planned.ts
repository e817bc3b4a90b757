import type { NamedUser } from '../../accounts/user.ts'
import type { Database, Dialect, Queries, Transaction } from '../../database/database.ts'
import { inUuids, type Sql, sql } from '../../database/sql.ts'
import type { Document, Hand, Refused } from '../document.ts'
import { putKeys, revokeKeys } from './planned-keys.ts'
import {
  putMembers,
  putOrganizations,
  removeMembers,
  removeOrganizations,
} from './planned-organizations.ts'
import { putServers, removeServers } from './planned-servers.ts'
import { putUsers, removeUsers } from './planned-users.ts'
import { createPlanning, type Planning, type PlanOptions } from './planning.ts'
import { organizationsMeant, readStored, type Stored, usersMeant } from './stored.ts'

/** Plans a document with the rows that it means. */
export async function planRead(
  queries: Queries,
  dialect: Dialect,
  document: Document,
  options: PlanOptions,
  meant?: Sql,
): Promise<Planning> {
  const isMeant = meant ?? (await usersMeant(queries, document, options.hand))
  const stored = await readStored(queries, dialect, document, options, isMeant)
  return planDocument(document, stored, options)
}

/** The same under the locks of users and organizations. */
export async function planLocked(
  transaction: Transaction,
  dialect: Dialect,
  document: Document,
  options: PlanOptions,
): Promise<Planning> {
  const isLocked = await lockMeant(transaction, document, options.hand)
  return planRead(transaction, dialect, document, options, isLocked)
}

/** What a document does to the rows that it means. Works in the order of ACTS. */
function planDocument(document: Document, stored: Stored, options: PlanOptions): Planning {
  const planning = createPlanning(document, stored, options)
  putUsers(planning)
  putOrganizations(planning)
  putMembers(planning)
  putServers(planning)
  putKeys(planning)
  revokeKeys(planning)
  removeServers(planning)
  removeMembers(planning)
  removeOrganizations(planning)
  removeUsers(planning)
  for (const { refused } of Object.values(planning.answer))
    refused.sort((one: Refused, other: Refused) => one.row - other.row)
  return planning
}

/** How often a transaction begins that collides with others. */
const ATTEMPTS = 3

/**
 * Begins a transaction again if another one has taken an address, a slug or a hash at the same
 * moment, or if the two wait for each other.
 */
export async function retryCollisions<Result>(
  { dialect }: Database,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let left = ATTEMPTS; ; left -= 1)
    try {
      return await attempt()
    } catch (error) {
      if (left === 1 || !(dialect.isTaken(error) || isDeadlock(error))) throw error
    }
}

const isDeadlock = (error: unknown) => (error as { code?: unknown }).code === '40P01'

/** The document with the users and owners whom "these are all" means. */
export async function expand(queries: Queries, document: Document): Promise<Document> {
  const { all_users, all_servers, all_servers_of = [] } = document
  const expanded = { ...document }
  if (all_servers) {
    const owners = await queries.all<NamedUser>(sql`
      SELECT DISTINCT users.id, external_id, email FROM servers JOIN users ON users.id = created_by
      WHERE external_id IS NOT NULL AND organization_id IS NULL`)
    expanded.all_servers_of = [...all_servers_of, ...named(owners, 'all_servers')]
  }
  if (all_users) {
    const users = await queries.all<NamedUser>(sql`
      SELECT id, external_id, email FROM users WHERE external_id IS NOT NULL AND banned_at IS NULL`)
    const isListed = listedIn(document)
    expanded.banned = named(
      users.filter((user) => !isListed(user)),
      'all_users',
    )
  }
  return expanded
}

const named = (users: readonly NamedUser[], place: string) =>
  users.map(({ id, external_id, email }) => ({ user_id: id, external_id, email, row: 0, place }))

/** Whether put_users names a user. An address that it gives to another one does not. */
function listedIn({ put_users = [] }: Document): (user: NamedUser) => boolean {
  const names = new Set(
    put_users.flatMap(({ external_id, user_id, email }) => [
      `1${external_id}`,
      `2${user_id}`,
      ...(external_id || user_id ? [] : [`3${email}`]),
    ]),
  )
  return ({ id, external_id, email }) =>
    names.has(`1${external_id}`) || names.has(`2${id}`) || names.has(`3${email}`)
}

/**
 * Another document waits, so that both see users that don't exist yet. Returns which users are
 * locked: one that appears afterwards counts as absent, and then its address or id is taken.
 */
async function lockMeant(transaction: Transaction, document: Document, hand: Hand): Promise<Sql> {
  await transaction.lockNames(['apply'])
  const idsWhere = async (table: Sql, where: Sql) => {
    const found = await transaction.all<{ id: string }>(sql`SELECT id FROM ${table} WHERE ${where}`)
    return found.map(({ id }) => id)
  }
  const known = await idsWhere(sql`users`, await usersMeant(transaction, document, hand))
  await transaction.lock('users', known)
  const places = await idsWhere(sql`organizations`, organizationsMeant(document))
  await transaction.lock('organizations', places, 'remove')
  return sql`id ${inUuids(known)}`
}
