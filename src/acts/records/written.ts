import type { Note } from '../../accounts/records/audit.ts'
import { nameOf } from '../../accounts/user.ts'
import type { Dialect, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven, saveGiven, writeGiven } from '../../database/given-rows.ts'
import { inUuids, raw, sql, uuid } from '../../database/sql.ts'
import { handOver, revokeKeysOf } from '../../directory/records/removed-user.ts'
import { count } from '../../model/text.ts'
import type { PlacedServer } from '../../servers/plan.ts'
import { type RegisteredRow, toRow, writeServers } from '../../servers/records/server-rows.ts'
import type { SiteUser } from '../user.ts'
import type { Change } from './draft.ts'
import type { Planning } from './planning.ts'
import type { StoredKey, StoredMember } from './stored.ts'

const USER = columnsOf({
  uuid: 'id',
  text: 'email external_id',
  instant: 'created_at disabled_at banned_at',
})
const ORGANIZATION = columnsOf({ uuid: 'id', text: 'slug name' })
const MEMBER = columnsOf({ uuid: 'organization_id user_id', text: 'role', instant: 'joined_at' })
const KEY = columnsOf({
  uuid: 'id user_id',
  text: 'name prefix',
  bytes: 'key_hash',
  instant: 'created_at revoked_at',
})
const LAST_USE = columnsOf({ uuid: 'id', instant: 'last_used_at' })

/**
 * Writes what a plan changes, with its audit entries, under the locks of the users and
 * organizations. Each table gets few statements for all rows.
 */
export async function writePlan(
  transaction: Transaction,
  dialect: Dialect,
  planning: Planning,
  note: Note,
): Promise<void> {
  const { organizations } = planning
  const idOf = planning.organizationId
  await writeUsers(transaction, planning.users.changes())
  const changed = organizations.changes()
  await saveGiven(
    transaction,
    'organizations',
    ORGANIZATION,
    changed.filter(({ after }) => after !== null),
  )
  await writeMembers(transaction, planning.members.changes(), idOf)
  const servers = planning.servers.changes()
  const rowOf = (server: PlacedServer | null): RegisteredRow | null => {
    const place = server?.organization ?? null
    return server && toRow({ ...server, organization: place === null ? null : idOf(place) })
  }
  await writeServers(
    transaction,
    servers.map(({ before, after }) => ({ before: rowOf(before), after: rowOf(after) })),
  )
  await writeKeys(transaction, dialect, planning.keys.changes())
  const ended = changed.flatMap(({ before, after }) => (after === null ? before!.id : []))
  if (ended.length > 0)
    await transaction.run(sql`DELETE FROM organizations WHERE id ${inUuids(ended)}`)
  await removeUsers(transaction, planning)
  noteChanges(planning, note, idOf)
}

/**
 * First each address that changes gives way to one that no other user can have, so that users can
 * swap theirs. A user must not be without any name in between.
 */
async function writeUsers(
  transaction: Transaction,
  changes: readonly Change<SiteUser>[],
): Promise<void> {
  const ids = (isMeant: (before: SiteUser, after: SiteUser) => boolean) =>
    changes.flatMap(({ before, after }) => (before && isMeant(before, after!) ? before.id : []))
  const ended = ids((before, after) => isWithout(before) !== isWithout(after))
  if (ended.length > 0) {
    // A trigger changes the keys.
    const keys = await transaction.all<{ id: string }>(
      sql`SELECT id FROM api_keys WHERE user_id ${inUuids(ended)}`,
    )
    await transaction.lock(
      'api_keys',
      keys.map(({ id }) => id),
    )
  }
  const moved = ids((before, after) => before.email !== after.email)
  if (moved.length > 0)
    await transaction.run(sql`
      UPDATE users SET email = CAST(id AS text), email_issuer = NULL WHERE id ${inUuids(moved)}`)
  await saveGiven(transaction, 'users', USER, changes)
}

const isWithout = ({ disabled_at, banned_at }: SiteUser) => (disabled_at ?? banned_at) !== null

async function writeMembers(
  transaction: Transaction,
  changes: readonly Change<StoredMember>[],
  idOf: (slug: string) => string,
): Promise<void> {
  const kept = changes.flatMap(({ after }) =>
    after === null ? [] : [{ ...after, organization_id: idOf(after.slug) }],
  )
  const changeRole = sql`ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`
  await insertGiven(transaction, 'members', MEMBER, kept, changeRole)
  const ended = changes.flatMap(({ before, after }) => (after === null ? before! : []))
  for (const [slug, members] of Map.groupBy(ended, (one) => one.slug))
    await transaction.run(sql`
      DELETE FROM members WHERE organization_id = ${uuid(idOf(slug))}
        AND user_id ${inUuids(members.map(({ user_id }) => user_id))}`)
}

/** Revokes first, because a user has at most five active keys. */
async function writeKeys(
  transaction: Transaction,
  dialect: Dialect,
  changes: readonly Change<StoredKey>[],
): Promise<void> {
  const known = changes.flatMap(({ before }) => before?.id ?? [])
  await transaction.lock('api_keys', known)
  const rows = changes.map(({ before, after }) => ({
    before: before && hashed(before),
    after: hashed(after!),
  }))
  for (const { before, after } of rows) if (before !== null) before.key_hash = after.key_hash
  const [ending, others] = [true, false].map((ends) =>
    rows.filter(
      ({ before, after }) => (before?.revoked_at !== after.revoked_at && before !== null) === ends,
    ),
  )
  await saveGiven(transaction, 'api_keys', KEY, ending!)
  await saveGiven(transaction, 'api_keys', KEY, others!)
  const used = rows.flatMap(({ before, after }) =>
    before === null && after.last_used_at ? after : [],
  )
  await writeGiven(transaction, LAST_USE, used, dialect.recordLastUses)
}

const hashed = ({ hash, ...key }: StoredKey) => ({ ...key, key_hash: Buffer.from(hash, 'hex') })

/** What else a user has. An identity comes last, because it may be all that names its user. */
const OF_USER = [
  'servers.created_by',
  'server_changes',
  'checked_imports',
  'invitations.invited_by',
  'passwords',
  'sessions',
  'sign_in_links',
  'identities',
]

async function removeUsers(
  transaction: Transaction,
  { removed, emptied, now }: Planning,
): Promise<void> {
  const ids = [...removed.keys(), ...emptied.map(({ id }) => id)]
  if (ids.length === 0) return
  await revokeKeysOf(transaction, ids, now)
  await handOver(transaction, ids)
  if (emptied.length > 0)
    for (const table of OF_USER) {
      const [name, column = 'user_id'] = table.split('.')
      const own = inUuids(emptied.map(({ id }) => id))
      await transaction.run(sql`DELETE FROM ${raw(name!)} WHERE ${raw(column)} ${own}`)
    }
  await transaction.run(sql`DELETE FROM users WHERE id ${inUuids([...removed.keys()])}`)
}

/** A site's entries are about bans, keys, organizations, removals and what it can't have. */
function noteChanges(planning: Planning, note: Note, idOf: (slug: string) => string): void {
  const { hand, organizations, ownersOf } = planning
  const emptied = new Map(planning.emptied.map((user) => [user.id, user]))
  for (const change of planning.users.changes()) {
    const user = emptied.get(change.after!.id)
    if (user === undefined) noteUser(change, hand === 'operator', note)
    else note('user removed', user.id, nameOf(user))
  }
  for (const { before, after } of organizations.changes()) {
    const { slug, id } = (after ?? before)!
    const [owner] = [...ownersOf(slug).values()].toSorted(
      (one, other) => one.joined_at - other.joined_at || (one.user_id < other.user_id ? -1 : 1),
    )
    const action =
      after === null
        ? 'organization deleted'
        : before === null
          ? 'organization made'
          : 'organization renamed'
    note(action, owner?.user_id ?? null, id)
  }
  for (const { before, after } of planning.members.changes())
    if (after === null) note('member removed', before!.user_id, before!.user_id)
    else {
      const action = before === null ? 'member added' : 'member role changed'
      note(action, after.user_id, idOf(after.slug))
    }
  for (const { before, after } of planning.keys.changes()) {
    const { user_id, id, name, revoked_at } = after!
    if (before === null) note('key imported', user_id, id)
    else if (before.revoked_at !== revoked_at) note('key revoked', user_id, id)
    else if (before.name !== name) note('key renamed', user_id, id)
  }
  if (hand === 'operator') noteServers(planning.servers.changes(), note)
  for (const user of planning.removed.values()) note('user removed', user.id, nameOf(user))
  for (const [id, what] of planning.denied) note('site refused', id, what)
}

function noteUser({ before, after }: Change<SiteUser>, isOperators: boolean, note: Note): void {
  const user = after!
  const subject = nameOf(user)
  if (before === null && isOperators) note('user added', user.id, subject)
  if (before !== null && isOperators) {
    if (user.external_id !== before.external_id)
      note('external id changed', user.id, user.external_id ?? '')
    if (user.email !== before.email) note('e-mail changed', user.id, user.email ?? '')
    if ((user.disabled_at === null) !== (before.disabled_at === null))
      note(user.disabled_at === null ? 'user enabled' : 'user disabled', user.id, subject)
  }
  if ((user.banned_at === null) !== ((before?.banned_at ?? null) === null))
    note(user.banned_at === null ? 'user unbanned' : 'user banned', user.id, subject)
}

const ownerOf = ({ before, after }: Change<PlacedServer>) => (after ?? before)!.created_by

/** One entry for the servers of each user. */
function noteServers(changes: readonly Change<PlacedServer>[], note: Note): void {
  for (const [userId, own] of Map.groupBy(changes, ownerOf)) {
    const added = own.filter(({ before }) => before === null).length
    const removed = own.filter(({ after }) => after === null).length
    const changed = own.length - added - removed
    note(
      'servers imported',
      userId,
      `${count(added)} new, ${count(changed)} changed, ${count(removed)} removed`,
    )
  }
}
