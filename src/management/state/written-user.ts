import { type AuditAction, COMMAND_LINE } from '../../listing/accounts/audit.ts'
import { ACTIVE_KEYS_MAX } from '../../listing/key-format.ts'
import type { Instant } from '../../listing/instant.ts'
import type { Organization } from '../../listing/organization.ts'
import { insertEntry } from '../accounts/audit.ts'
import { insertionOf } from '../accounts/users.ts'
import { countActive, revocationOf } from '../api-keys.ts'
import type { Dialect, Transaction } from '../database.ts'
import { canRegisterIn, placeOf } from '../servers/registered-servers.ts'
import { insertRows, updateRows } from '../servers/server-imports.ts'
import { at, sql, uuid, uuids } from '../sql.ts'
import type { KeyPlan } from './planned-keys.ts'
import type { ServerPlan } from './planned-servers.ts'
import type { UserPlan } from './planned-user.ts'

type Note = (action: AuditAction, subject: string) => Promise<void>

/** Under the user's lock. False if a membership is gone meanwhile, or the user has more keys. */
export async function writeUser(
  transaction: Transaction,
  dialect: Dialect,
  { added, userId, keys, servers }: UserPlan,
  organizations: readonly Organization[],
  now: Instant,
): Promise<boolean> {
  const note: Note = (action, subject) =>
    insertEntry(transaction, {
      action,
      user_id: userId,
      subject,
      address: COMMAND_LINE,
      occurred_at: now,
    })
  if (added !== null) {
    await transaction.run(insertionOf(added))
    await note('user added', added.email)
  }
  const isWritten = await writeServers(transaction, userId, servers, organizations)
  return isWritten && writeKeys(transaction, dialect, keys, note, now)
}

async function writeServers(
  transaction: Transaction,
  userId: string,
  { added, changed, moved, removed }: ServerPlan,
  organizations: readonly Organization[],
): Promise<boolean> {
  const ids = new Map(organizations.map(({ id, slug }) => [slug, id]))
  const idOf = (place: string | null) => (place === null ? null : ids.get(place)!)
  for (const place of new Set([...added, ...moved].map((one) => one.place)))
    if (!(await canRegisterIn(transaction, userId, idOf(place)))) return false
  if (removed.length > 0)
    await transaction.run(sql`DELETE FROM servers WHERE id IN (${uuids(removed)})`)
  await updateRows(transaction, changed)
  for (const { id, place } of moved)
    await transaction.run(sql`
      UPDATE servers SET organization_id = ${placeOf(idOf(place))} WHERE id = ${uuid(id)}`)
  for (const [place, targets] of Map.groupBy(added, (one) => one.place)) {
    const rows = targets.map(({ row }) => row)
    await insertRows(transaction, userId, idOf(place), rows)
  }
  return true
}

/** Revokes first, because a user has at most five active keys. */
async function writeKeys(
  transaction: Transaction,
  dialect: Dialect,
  { added, changed, revoked }: KeyPlan,
  note: Note,
  now: Instant,
): Promise<boolean> {
  await transaction.lock('api_keys', [...revoked, ...changed.map(({ id }) => id)])
  for (const id of revoked) {
    await transaction.run(revocationOf(sql`id = ${uuid(id)}`, now))
    await note('key revoked', id)
  }
  for (const { id, name, prefix, isRenamed } of changed) {
    await transaction.run(sql`
      UPDATE api_keys SET name = ${name}, prefix = ${prefix} WHERE id = ${uuid(id)}`)
    if (isRenamed) await note('key renamed', id)
  }
  for (const { apiKey, hash } of added) {
    const { id, user_id, name, prefix, created_at, revoked_at, last_used_at } = apiKey
    if (revoked_at === null && (await countActive(transaction, user_id)) >= ACTIVE_KEYS_MAX)
      return false
    await transaction.run(sql`
      INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at)
      VALUES (${uuid(id)}, ${uuid(user_id)}, ${name}, ${prefix}, ${Buffer.from(hash, 'hex')},
        ${at(created_at)}, ${revoked_at === null ? null : at(revoked_at)})`)
    if (last_used_at !== null) await transaction.run(dialect.recordLastUse(id, last_used_at))
    await note('key imported', id)
  }
  return true
}
