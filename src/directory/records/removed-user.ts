import { act } from '../../accounts/records/audit.ts'
import { findName } from '../../accounts/records/user-columns.ts'
import { inBatches } from '../../database/batches.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { at, inUuids, type Sql, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import type { Instant } from '../../model/instant.ts'
import { isOwn, isPersonal } from '../../servers/records/server-rows.ts'

interface Place {
  user_id: string
  organization_id: string
}

/**
 * Removes the user with all keys and personal servers. No claim with the keys is granted
 * afterwards. The user's servers under an organization stay there, as servers of its oldest owner.
 * The oldest member becomes the owner of an organization that would have none. An organization
 * without members is removed with its servers, but those of other users become personal drafts of
 * theirs. False if there is no such user, or another caller has removed it meanwhile.
 *
 * Not one transaction: first all access ends. Then the personal servers go in batches, so that no
 * request waits long. If the promise is rejected, some servers may be gone. Calling it again
 * removes the rest.
 */
export async function removeUser(
  database: Database,
  userId: string,
  actor: Actor,
): Promise<boolean> {
  await endAccess(database, userId, actor)
  await inBatches((rows) =>
    database.transact(async (transaction) => {
      await transaction.lock('users', [userId])
      return transaction.run(sql`
        DELETE FROM servers WHERE id IN
          (SELECT id FROM servers WHERE ${isPersonal(userId)} LIMIT ${rows})`)
    }),
  )
  return database.transact((transaction) => remove(transaction, userId))
}

async function remove(transaction: Transaction, userId: string): Promise<boolean> {
  await transaction.lock('users', [userId])
  await handOver(transaction, [userId])
  return (await transaction.run(sql`DELETE FROM users WHERE id = ${uuid(userId)}`)) === 1
}

/** Leaves each organization as removeUser does. The caller holds the users' locks. */
export async function handOver(
  transaction: Transaction,
  userIds: readonly string[],
): Promise<void> {
  const ids = inUuids(userIds)
  const joined = await transaction.all<Place>(sql`
    SELECT user_id, organization_id FROM members WHERE user_id ${ids}
    UNION SELECT created_by, organization_id FROM servers
    WHERE created_by ${ids} AND organization_id IS NOT NULL`)
  // Until the transaction ends no member joins or leaves them, and no server is added to them.
  await transaction.lock(
    'organizations',
    [...new Set(joined.map((one) => one.organization_id))],
    'remove',
  )
  for (const userId of new Set(joined.map(({ user_id }) => user_id))) {
    await leave(transaction, userId)
    // No longer an heir of the others.
    await transaction.run(sql`DELETE FROM members WHERE user_id = ${uuid(userId)}`)
  }
}

async function leave(transaction: Transaction, userId: string): Promise<void> {
  const [place] = await transaction.all<Place>(sql`${placesOf(userId)} LIMIT 1`)
  if (place === undefined) return
  // Without a slug that the heir has in the same organization already.
  await transaction.run(sql`
    UPDATE servers SET created_by = heir.user_id, slug = CASE WHEN NOT EXISTS (
      SELECT 1 FROM servers AS own WHERE own.created_by = heir.user_id
        AND own.organization_id = servers.organization_id AND own.slug = servers.slug
    ) THEN slug END
    FROM (${heirs(userId)}) AS heir
    WHERE ${isOwn(userId)} AND heir.organization_id = servers.organization_id`)
  await transaction.run(sql`
    UPDATE members SET role = 'owner' WHERE (organization_id, user_id) IN (${newOwners(userId)})`)
  await transaction.run(sql`
    UPDATE servers SET organization_id = NULL, status = 'draft', slug = NULL
    WHERE id IN (${serversLeftTo(userId)})`)
  await transaction.run(sql`DELETE FROM organizations WHERE id IN (${ownedAlone(userId)})`)
}

async function endAccess(database: Database, userId: string, actor: Actor): Promise<void> {
  await act(database, actor, async (transaction, note) => {
    await transaction.lock('users', [userId])
    const name = await findName(transaction, userId)
    if (name === null) return
    await revokeKeysOf(transaction, [userId], actor.at)
    // Ends sessions and the sign-in link, too, and no way to sign in works any more.
    await transaction.run(sql`
      UPDATE users SET disabled_at = ${at(actor.at)}
      WHERE id = ${uuid(userId)} AND disabled_at IS NULL`)
    note('user removed', userId, name)
  })
}

export async function revokeKeysOf(
  transaction: Transaction,
  userIds: readonly string[],
  revokedAt: Instant,
): Promise<void> {
  const apiKeys = await transaction.all<{ id: string }>(
    sql`SELECT id FROM api_keys WHERE user_id ${inUuids(userIds)}`,
  )
  const ids = apiKeys.map(({ id }) => id)
  await transaction.lock('api_keys', ids)
  await transaction.run(sql`
    UPDATE api_keys SET revoked_at = ${at(revokedAt)}
    WHERE id ${inUuids(ids)} AND revoked_at IS NULL`)
}

/** Organizations that the user owns, or has no other member of. Any other member just goes. */
const ownOf = (userId: string): Sql => sql`
  SELECT organization_id FROM members WHERE user_id = ${uuid(userId)}
    AND (role = 'owner' OR NOT EXISTS (
      SELECT 1 FROM members AS others WHERE others.organization_id = members.organization_id
        AND others.user_id <> members.user_id
    ))`

/** These, and organizations in which the user has a server. */
const placesOf = (userId: string): Sql => sql`
  ${ownOf(userId)}
  UNION SELECT organization_id FROM servers WHERE ${isOwn(userId)} AND organization_id IS NOT NULL`

/** Of the other members in each of these, the oldest owner, or else the oldest member. */
const heirs = (userId: string): Sql => sql`
  SELECT organization_id, user_id, role FROM (
    SELECT organization_id, user_id, role, row_number() OVER (
      PARTITION BY organization_id ORDER BY role DESC, joined_at, user_id
    ) AS place
    FROM members WHERE organization_id IN (${placesOf(userId)}) AND user_id <> ${uuid(userId)}
  ) AS others WHERE place = 1`

const inherited = (userId: string): Sql =>
  sql`SELECT organization_id FROM (${heirs(userId)}) AS heir`

/** The members who become the owner of an organization, because the user is its only one. */
export const newOwners = (userId: string): Sql => sql`
  SELECT organization_id, user_id FROM (${heirs(userId)}) AS heir
  WHERE role = 'member' AND organization_id IN (
    SELECT organization_id FROM members WHERE user_id = ${uuid(userId)} AND role = 'owner'
  )`

/** Organizations with no other member. */
export const ownedAlone = (userId: string): Sql => sql`
  SELECT organization_id FROM (${ownOf(userId)}) AS own
  WHERE organization_id NOT IN (${inherited(userId)})`

/** Servers of other users in organizations that go with this user. */
export const serversLeftTo = (userId: string): Sql => sql`
  SELECT id FROM servers
  WHERE organization_id IN (${ownedAlone(userId)}) AND created_by <> ${uuid(userId)}`

/** The user's servers in organizations that stay. */
export const serversThatStay = (userId: string): Sql => sql`
  SELECT id FROM servers WHERE ${isOwn(userId)} AND organization_id IN (${inherited(userId)})`
