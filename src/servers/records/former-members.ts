import { GIVEN_BACK_MAX } from '../../organizations/organization.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { isOwner, ownsLocked } from '../../organizations/records/organizations.ts'
import { inUuids, type Sql, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from '../../accounts/records/audit.ts'

/** Servers under an organization whose owners have left it. */
export function serversOfFormerMembers(database: Database) {
  return {
    /** The number of servers of former members, counted up to GIVEN_BACK_MAX. */
    async countServersOfFormerMembers(organizationId: string): Promise<number> {
      return (await database.all(ofFormerMembers(organizationId))).length
    },

    /**
     * Gives servers of former members back to them as personal drafts, on behalf of an owner.
     * Handles at most GIVEN_BACK_MAX servers and returns their number. Null if the user is not an
     * owner.
     */
    async giveBackServers(
      userId: string,
      organizationId: string,
      actor: Actor,
    ): Promise<number | null> {
      return act(database, actor, async (transaction, note) => {
        const ofOwner = ofFormerMembers(organizationId, isOwner(userId, organizationId))
        const owners = await lockOwners(transaction, ofOwner)
        if (!(await ownsLocked(transaction, userId, organizationId))) return null
        // Another member may have left meanwhile, whose row is not locked: the next call gives
        // those servers back.
        const ofLocked = sql`created_by ${inUuids(owners)}`
        const former = ofFormerMembers(organizationId, ofLocked)
        const givenBack = await giveBackServers(transaction, former)
        if (givenBack > 0) note('servers given back', userId, organizationId)
        return givenBack
      })
    },
  }
}

const ofFormerMembers = (organizationId: string, condition = sql`true`): Sql => sql`
  SELECT id, created_by FROM servers WHERE organization_id = ${uuid(organizationId)}
    AND NOT EXISTS (
      SELECT 1 FROM members
      WHERE organization_id = ${uuid(organizationId)} AND user_id = created_by
    )
    AND ${condition}
  LIMIT ${GIVEN_BACK_MAX}`

/**
 * Locks the owners of these servers, and returns their ids. `servers` is a query for `created_by`.
 * Call it before anything locks an organization.
 */
export async function lockOwners(transaction: Transaction, servers: Sql): Promise<string[]> {
  const found = await transaction.all<{ created_by: string }>(servers)
  const owners = [...new Set(found.map(({ created_by }) => created_by))]
  await transaction.lock('users', owners)
  return owners
}

/**
 * Gives servers under organizations back to their owners, as personal drafts, and returns how many.
 * `servers` is a query for `id`. Of servers with one slug the latest keeps it, unless the owner has
 * a personal server with that slug already. The caller holds the lock of each owner, so each call
 * sees the slugs of the one before.
 */
export async function giveBackServers(transaction: Transaction, servers: Sql): Promise<number> {
  const found = await transaction.all<{ id: string }>(servers)
  if (found.length === 0) return 0
  const ids = found.map(({ id }) => id)
  return transaction.run(sql`
    UPDATE servers SET organization_id = NULL, status = 'draft', slug = given_back.slug
    FROM (
      SELECT id, CASE WHEN NOT EXISTS (
        SELECT 1 FROM servers AS own
        WHERE own.created_by = servers.created_by AND own.slug = servers.slug AND own.organization_id IS NULL
      ) AND row_number() OVER (PARTITION BY created_by, slug ORDER BY updated_at DESC, id DESC) = 1
        THEN slug END AS slug
      FROM servers WHERE id ${inUuids(ids)}
    ) AS given_back
    WHERE servers.id = given_back.id AND organization_id IS NOT NULL`)
}
