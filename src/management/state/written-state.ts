import { type AuditAction, type AuditEntry, COMMAND_LINE } from '../../listing/accounts/audit.ts'
import { nameOf } from '../../listing/accounts/user.ts'
import type { Instant } from '../../listing/instant.ts'
import { revocationOf } from '../api-keys.ts'
import type { Dialect, Transaction } from '../database.ts'
import { SERVER_COLUMNS } from '../servers/server-imports.ts'
import { inStrings, inUuids, sql, uuid } from '../sql.ts'
import { columnsOf, insertGiven, updateGiven, writeGiven } from '../given-rows.ts'
import type { PlannedOrganization } from './planned-organization.ts'
import type { PlannedUser } from './planned-user.ts'

export interface PlannedPart {
  organizations: readonly PlannedOrganization[]
  users: readonly PlannedUser[]
}

type Note = (action: AuditAction, user_id: string, subject: string) => void

/**
 * Under the locks of the users and organizations. Each table gets one statement for all records.
 * Returns the slugs of organizations that would have no owner.
 */
export async function writePart(
  transaction: Transaction,
  dialect: Dialect,
  part: PlannedPart,
  now: Instant,
): Promise<string[]> {
  const entries: (AuditEntry & { id: string })[] = []
  const note: Note = (action, user_id, subject) => {
    const entry = { action, user_id, subject, address: COMMAND_LINE, occurred_at: now }
    entries.push({ ...entry, id: crypto.randomUUID() })
  }
  await writeUsers(transaction, part.users, note)
  const organizations = part.organizations.filter(({ changes }) => changes.length > 0)
  const ownerless = await writeOrganizations(transaction, { ...part, organizations }, note)
  if (ownerless.length > 0) return ownerless
  await writeServers(transaction, part.users)
  await writeKeys(transaction, dialect, part.users, note, now)
  await insertGiven(transaction, 'audit_log', ENTRY, entries)
  return []
}

const ENTRY = columnsOf({
  uuid: 'id user_id',
  instant: 'occurred_at',
  text: 'action subject address',
})

async function writeUsers(
  transaction: Transaction,
  users: readonly PlannedUser[],
  note: Note,
): Promise<void> {
  const names = columnsOf({ text: 'email external_id', instant: 'disabled_at' })
  const added = users.filter(({ before }) => before === undefined).map(({ user }) => user)
  await insertGiven(transaction, 'users', { id: 'uuid', ...names, created_at: 'instant' }, added)
  for (const user of added) note('user added', user.id, nameOf(user))
  const changed = users.filter(({ changes }) =>
    changes.some(({ action, kind }) => kind === 'user' && action === 'change'),
  )
  const after = changed.map(({ user }) => user)
  // A trigger changes the keys of a disabled user.
  await transaction.lock(
    'api_keys',
    changed.flatMap(({ keyIds }) => keyIds),
  )
  await updateGiven(transaction, 'users', names, after)
  for (const { before, user } of changed) {
    if (user.external_id !== before!.external_id)
      note('external id changed', user.id, user.external_id ?? '')
    if (user.email !== before!.email) note('e-mail changed', user.id, user.email ?? '')
    if (user.disabled_at !== before!.disabled_at)
      note(user.disabled_at === null ? 'user enabled' : 'user disabled', user.id, nameOf(user))
  }
}

async function writeOrganizations(
  transaction: Transaction,
  { organizations, users }: PlannedPart,
  note: Note,
): Promise<string[]> {
  const own = columnsOf({ uuid: 'id', text: 'slug name' })
  const rowsOf = (isNew: boolean) =>
    organizations.filter((one) => one.isNew === isNew).map((one) => one.organization)
  await insertGiven(transaction, 'organizations', own, rowsOf(true))
  await updateGiven(transaction, 'organizations', { name: 'text' }, rowsOf(false))
  const members = users.flatMap((one) =>
    one.members.map((member) => ({ ...member, user_id: one.user.id })),
  )
  const slugs = [...organizations.map(({ of }) => of), ...members.map(({ slug }) => slug)]
  const ids = await readIds(transaction, slugs)
  const rows = members.map((member) => ({ ...member, organization_id: ids.get(member.slug)! }))
  const kept = rows.filter(({ role }) => role !== null)
  const removed = rows.filter(({ role }) => role === null)
  const columns = columnsOf({
    uuid: 'organization_id user_id',
    text: 'role',
    instant: 'joined_at',
  })
  const changeRole = sql`ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`
  await insertGiven(transaction, 'members', columns, kept, changeRole)
  for (const { organization_id, user_id } of removed)
    await transaction.run(sql`DELETE FROM members
      WHERE organization_id = ${uuid(organization_id)} AND user_id = ${uuid(user_id)}`)
  for (const { before, user_id, organization_id } of kept)
    note(before === null ? 'member added' : 'member role changed', user_id, organization_id)
  for (const { user_id } of removed) note('member removed', user_id, user_id)
  const owners = await readOwners(transaction, [...ids.values()])
  for (const { isNew, of } of organizations) {
    const id = ids.get(of)!
    const owner = owners.get(id)
    if (owner !== undefined) note(isNew ? 'organization made' : 'organization renamed', owner, id)
  }
  return [...ids].flatMap(([slug, id]) => (owners.has(id) ? [] : [slug]))
}

async function readIds(
  transaction: Transaction,
  slugs: readonly string[],
): Promise<Map<string, string>> {
  if (slugs.length === 0) return new Map()
  const found = await transaction.all<{ id: string; slug: string }>(
    sql`SELECT id, slug FROM organizations WHERE slug ${inStrings([...new Set(slugs)])}`,
  )
  return new Map(found.map(({ id, slug }) => [slug, id]))
}

/** The oldest owner of each organization that has one. */
async function readOwners(transaction: Transaction, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>()
  const owners = await transaction.all<{ organization_id: string; user_id: string }>(sql`
    SELECT organization_id, user_id FROM members
    WHERE role = 'owner' AND organization_id ${inUuids(ids)}
    ORDER BY joined_at DESC, user_id DESC`)
  return new Map(owners.map((one) => [one.organization_id, one.user_id]))
}

async function writeServers(
  transaction: Transaction,
  users: readonly PlannedUser[],
): Promise<void> {
  const removed = users.flatMap(({ servers }) => servers.removed)
  if (removed.length > 0)
    await transaction.run(sql`DELETE FROM servers WHERE id ${inUuids(removed)}`)
  const added = users.flatMap(({ user, servers }) =>
    servers.added.map((row) => ({ ...row, created_by: user.id })),
  )
  const changed = users.flatMap(({ servers }) => servers.changed)
  const places = [...added, ...changed.map(({ row }) => row)].flatMap(({ place }) => place ?? [])
  const ids = await readIds(transaction, places)
  const placed = <Row extends { place: string | null }>(row: Row) => ({
    ...row,
    organization_id: row.place === null ? null : ids.get(row.place)!,
  })
  await insertGiven(transaction, 'servers', SERVER_COLUMNS, added.map(placed))
  // A field that stays keeps its value, even if another program has just changed it.
  for (const [names, same] of Map.groupBy(changed, ({ fields }) => fields.join())) {
    const columns = new Set([...names.replace('place', 'organization_id').split(','), 'updated_at'])
    const kinds = Object.entries(SERVER_COLUMNS).filter(([name]) => columns.has(name))
    const rows = same.map(({ row }) => placed(row))
    await updateGiven(transaction, 'servers', Object.fromEntries(kinds), rows)
  }
}

const KEY = columnsOf({
  uuid: 'id user_id',
  text: 'name prefix',
  bytes: 'key_hash',
  instant: 'created_at revoked_at',
})

/** Revokes first, because a user has at most five active keys. */
async function writeKeys(
  transaction: Transaction,
  dialect: Dialect,
  users: readonly PlannedUser[],
  note: Note,
  now: Instant,
): Promise<void> {
  const revoked = users.flatMap(({ keys }) => keys.revoked)
  const changed = users.flatMap(({ keys }) => keys.changed)
  const added = users.flatMap(({ keys }) => keys.added)
  await transaction.lock('api_keys', [...revoked, ...changed.map(({ id }) => id)])
  if (revoked.length > 0) await transaction.run(revocationOf(sql`id ${inUuids(revoked)}`, now))
  await updateGiven(transaction, 'api_keys', { name: 'text', prefix: 'text' }, changed)
  const rows = added.map((key) => {
    return { ...key, key_hash: Uint8Array.from(Buffer.from(key.hash, 'hex')) }
  })
  await insertGiven(transaction, 'api_keys', KEY, rows)
  const used = added.filter(({ last_used_at }) => last_used_at !== null)
  const use = { id: 'uuid', last_used_at: 'instant' } as const
  await writeGiven(transaction, use, used, dialect.recordLastUses)
  for (const { user, keys } of users) {
    for (const id of keys.revoked) note('key revoked', user.id, id)
    for (const { id, isRenamed } of keys.changed) if (isRenamed) note('key renamed', user.id, id)
    for (const { id } of keys.added) note('key imported', user.id, id)
  }
}
