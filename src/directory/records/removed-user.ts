import type { Actor } from '../../model/audit.ts'
import { act } from '../../accounts/records/audit.ts'
import { findName } from '../../accounts/records/user-columns.ts'
import { inBatches } from '../../database/batches.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { lockOwners, giveBackServers } from '../../servers/records/former-members.ts'
import { at, inUuids, type Sql, sql, uuid } from '../../database/sql.ts'

interface Found {
  id: string
}

/**
 * Removes the user with all keys and servers. No claim with the keys is granted afterwards. The
 * oldest member becomes the owner of an organization that would have none. An organization without
 * members is removed, after `giveBackServers` for the servers of other users. False if there is no
 * such user, or another caller has removed it meanwhile.
 *
 * Not one transaction: first all access ends. Then the servers go in batches, so that no request
 * waits long. If the promise is rejected, some servers may be gone. Calling it again removes the
 * rest.
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
          (SELECT id FROM servers WHERE created_by = ${uuid(userId)} LIMIT ${rows})`)
    }),
  )
  const left = serversLeftTo(userId)
  await inBatches((rows) =>
    database.transact(async (transaction) => {
      const owners = await lockOwners(transaction, sql`${left} LIMIT ${rows}`)
      return giveBackServers(
        transaction,
        sql`${left} AND created_by ${inUuids(owners)} LIMIT ${rows}`,
      )
    }),
  )
  for (;;) {
    const removed = await database.transact((transaction) => removeLocked(transaction, userId))
    if (removed !== 'begin again') return removed
  }
}

/**
 * `begin again`, before anything has changed, if another user's server has come under the
 * organizations meanwhile. To lock that user after the organizations could be a deadlock.
 */
async function removeLocked(
  transaction: Transaction,
  userId: string,
): Promise<boolean | 'begin again'> {
  const left = serversLeftTo(userId)
  const others = await transaction.all<{ created_by: string }>(left)
  const owners = [userId, ...others.map(({ created_by }) => created_by)]
  await transaction.lock('users', owners)
  const joined = await transaction.all<Found>(
    sql`SELECT organization_id AS id FROM members WHERE user_id = ${uuid(userId)}`,
  )
  const ids = joined.map(({ id }) => id)
  // Until the transaction ends no member joins or leaves them, and no server is added to them.
  await transaction.lock('organizations', ids, 'remove')
  const stillLeft = await transaction.all<{ created_by: string }>(left)
  if (stillLeft.some(({ created_by }) => !owners.includes(created_by))) return 'begin again'
  await transaction.run(handOver(userId))
  await giveBackServers(transaction, left)
  await transaction.run(sql`DELETE FROM organizations WHERE id IN (${ownedAlone(userId)})`)
  return (await transaction.run(sql`DELETE FROM users WHERE id = ${uuid(userId)}`)) === 1
}

async function endAccess(database: Database, userId: string, actor: Actor): Promise<void> {
  await act(database, actor, async (transaction, note) => {
    await transaction.lock('users', [userId])
    const name = await findName(transaction, userId)
    if (name === null) return
    const apiKeys = await transaction.all<Found>(
      sql`SELECT id FROM api_keys WHERE user_id = ${uuid(userId)}`,
    )
    const ids = apiKeys.map(({ id }) => id)
    await transaction.lock('api_keys', ids)
    await transaction.run(sql`
      UPDATE api_keys SET revoked_at = ${at(actor.at)}
      WHERE id ${inUuids(ids)} AND revoked_at IS NULL`)
    // Ends sessions and the sign-in link, too, and no way to sign in works any more.
    await transaction.run(sql`
      UPDATE users SET disabled_at = ${at(actor.at)}
      WHERE id = ${uuid(userId)} AND disabled_at IS NULL`)
    note('user removed', userId, name)
  })
}

/** Organizations with no other member. */
export const ownedAlone = (userId: string): Sql => sql`
  SELECT organization_id FROM members WHERE user_id = ${uuid(userId)} AND NOT EXISTS (
    SELECT 1 FROM members AS other
    WHERE other.organization_id = members.organization_id AND other.user_id <> ${uuid(userId)}
  )`

/** Servers of other users in organizations that go with this user. */
export const serversLeftTo = (userId: string): Sql => sql`
  SELECT id, created_by FROM servers
  WHERE organization_id IN (${ownedAlone(userId)}) AND created_by <> ${uuid(userId)}`

/** Organizations with other members, of which the user is the only owner. */
export const inherited = (userId: string): Sql => sql`
  SELECT organization_id FROM members WHERE user_id = ${uuid(userId)} AND role = 'owner'
    AND NOT EXISTS (
      SELECT 1 FROM members AS other
      WHERE other.organization_id = members.organization_id
        AND other.user_id <> ${uuid(userId)} AND other.role = 'owner'
    )
    AND organization_id NOT IN (${ownedAlone(userId)})`

/** The oldest other member becomes the owner of an organization whose only owner is the user. */
const handOver = (userId: string): Sql => sql`
  UPDATE members SET role = 'owner'
  WHERE organization_id IN (${inherited(userId)})
    AND user_id = (
      SELECT user_id FROM members AS heir
      WHERE heir.organization_id = members.organization_id AND heir.user_id <> ${uuid(userId)}
      ORDER BY joined_at, user_id LIMIT 1
    )`
