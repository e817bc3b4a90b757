import type { AuditAction } from '../../model/audit.ts'
import { nameOf } from '../../accounts/user.ts'
import type { Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import { revocationOf } from '../../keys/records/api-keys.ts'
import type { StoredKey } from '../state-store.ts'
import type { Dialect, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven, saveGiven, writeGiven } from '../../database/given-rows.ts'
import { inStrings, inUuids, sql, uuid } from '../../database/sql.ts'
import type { AnyChange, Change, PlannedMember } from './changes.ts'
import type { Stored } from './stored-state.ts'
import type { Note } from '../../accounts/records/audit.ts'
import type { PlacedServer } from '../../servers/plan.ts'
import { type RegisteredRow, toRow, writeServers } from '../../servers/records/server-rows.ts'

/** The oldest owner that each of these organizations has after the changes, if it has one. */
export async function readOwners(
  transaction: Transaction,
  { instant }: Dialect,
  changes: readonly AnyChange[],
  slugs: readonly string[],
): Promise<Map<string, string>> {
  const present = await transaction.all<PlannedMember>(sql`
    SELECT slug, user_id, role, ${instant('joined_at')} FROM members
    JOIN organizations ON organizations.id = organization_id
    WHERE role = 'owner' AND slug ${inStrings([...new Set(slugs)])}`)
  const members = new Map(present.map((one) => [keyOf(one), one]))
  for (const { before, after } of changesOf(changes, 'member')) {
    members.delete(keyOf((before ?? after)!))
    if (after?.role === 'owner') members.set(keyOf(after), after)
  }
  const newestFirst = [...members.values()].toSorted(
    (one, other) => other.joined_at - one.joined_at || (one.user_id < other.user_id ? 1 : -1),
  )
  return new Map(newestFirst.map(({ slug, user_id }) => [slug, user_id]))
}

const keyOf = ({ slug, user_id }: PlannedMember) => `${slug} ${user_id}`

function changesOf<Kind extends AnyChange['kind']>(
  changes: readonly AnyChange[],
  kind: Kind,
): Change<Kind>[] {
  return changes.filter((one) => one.kind === kind) as Change<Kind>[]
}

const USER = columnsOf({
  uuid: 'id',
  text: 'email external_id',
  instant: 'created_at disabled_at banned_at',
})
const ORGANIZATION = columnsOf({ uuid: 'id', text: 'slug name' })

/** Under the locks of the users and organizations. Each table gets few statements for all rows. */
export async function writeChanges(
  transaction: Transaction,
  dialect: Dialect,
  changes: readonly AnyChange[],
  stored: Stored,
  owners: ReadonlyMap<string, string>,
  now: Instant,
  note: Note,
): Promise<void> {
  const users = changesOf(changes, 'user')
  const keys = changesOf(changes, 'key')
  // A trigger changes the keys of a disabled user.
  const touched = [
    ...users.flatMap(({ before }) => (before === null ? [] : stored.keysOf(before.id))),
    ...keys.flatMap(({ before }) => before ?? []),
  ]
  await transaction.lock(
    'api_keys',
    touched.map(({ id }) => id),
  )
  await saveGiven(transaction, 'users', USER, users)
  const organizations = changesOf(changes, 'organization')
  await saveGiven(transaction, 'organizations', ORGANIZATION, organizations)
  const made = new Map(organizations.map(({ of, after }) => [of, after!.id]))
  const idOf = (slug: string) => made.get(slug) ?? stored.organizationsBySlug.get(slug)!.id
  await writeMembers(transaction, changesOf(changes, 'member'), idOf)
  const rowOf = (server: PlacedServer | null): RegisteredRow | null => {
    if (server === null) return null
    const { organization } = server
    return toRow({ ...server, organization: organization === null ? null : idOf(organization) })
  }
  await writeServers(
    transaction,
    changesOf(changes, 'server').map(({ before, after }) => ({
      before: rowOf(before),
      after: rowOf(after),
    })),
  )
  await writeKeys(transaction, dialect, keys, now)
  for (const change of changes)
    for (const [action, userId, subject] of entriesOf(change, idOf, owners))
      note(action, userId, subject)
  for (const [userId, servers] of Map.groupBy(changesOf(changes, 'server'), ownerOf))
    note('servers imported', userId, sayServers(servers))
}

const ownerOf = ({ before, after }: Change<'server'>): string => (after ?? before)!.created_by

function sayServers(changes: readonly Change<'server'>[]): string {
  const countOf = (action: string) => count(changes.filter((one) => one.action === action).length)
  return `${countOf('add')} new, ${countOf('change')} changed, ${countOf('remove')} removed`
}

const MEMBER = columnsOf({ uuid: 'organization_id user_id', text: 'role', instant: 'joined_at' })

async function writeMembers(
  transaction: Transaction,
  changes: readonly Change<'member'>[],
  idOf: (slug: string) => string,
): Promise<void> {
  const kept = changes.flatMap(({ after }) =>
    after === null ? [] : [{ ...after, organization_id: idOf(after.slug) }],
  )
  const changeRole = sql`ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role`
  await insertGiven(transaction, 'members', MEMBER, kept, changeRole)
  for (const { before, after } of changes)
    if (before !== null && after === null)
      await transaction.run(sql`DELETE FROM members
        WHERE organization_id = ${uuid(idOf(before.slug))} AND user_id = ${uuid(before.user_id)}`)
}

const endedIn = (changes: readonly Change<'key'>[]): string[] =>
  changes.flatMap(({ before, after }) => (before !== null && after === null ? before.id : []))

const KEY = columnsOf({
  uuid: 'id user_id',
  text: 'name prefix',
  bytes: 'key_hash',
  instant: 'created_at revoked_at',
})
const LAST_USE = columnsOf({ uuid: 'id', instant: 'last_used_at' })

const hashed = (key: StoredKey) => ({
  ...key,
  key_hash: Uint8Array.from(Buffer.from(key.hash, 'hex')),
})

/** Revokes first, because a user has at most five active keys. */
async function writeKeys(
  transaction: Transaction,
  dialect: Dialect,
  changes: readonly Change<'key'>[],
  now: Instant,
): Promise<void> {
  const revoked = endedIn(changes)
  if (revoked.length > 0) await transaction.run(revocationOf(sql`id ${inUuids(revoked)}`, now))
  const rows = changes.map((one) =>
    one.before === null ? { before: null, after: hashed(one.after!) } : one,
  )
  await saveGiven(transaction, 'api_keys', KEY, rows)
  const added = rows.flatMap(({ before, after }) => (before === null ? [after!] : []))
  const used = added.filter(({ last_used_at }) => last_used_at !== null)
  await writeGiven(transaction, LAST_USE, used, dialect.recordLastUses)
}

/** What the audit log says about a change: the action, the user and the subject. */
function entriesOf(
  change: AnyChange,
  idOf: (slug: string) => string,
  owners: ReadonlyMap<string, string>,
): [AuditAction, string, string][] {
  if (change.kind === 'user') return entriesOfUser(change)
  if (change.kind === 'organization') {
    const action = change.before === null ? 'organization made' : 'organization renamed'
    return [[action, owners.get(change.of)!, change.after!.id]]
  }
  if (change.kind === 'member') {
    const { before, after } = change
    if (after === null) return [['member removed', before!.user_id, before!.user_id]]
    const action = before === null ? 'member added' : 'member role changed'
    return [[action, after.user_id, idOf(after.slug)]]
  }
  if (change.kind === 'server') return []
  const { before, after } = change
  if (before === null) return [['key imported', after!.user_id, after!.id]]
  if (after === null) return [['key revoked', before.user_id, before.id]]
  return after.name === before.name ? [] : [['key renamed', after.user_id, after.id]]
}

function entriesOfUser({ before, after }: Change<'user'>): [AuditAction, string, string][] {
  const user = after!
  if (before === null) return [['user added', user.id, nameOf(user)]]
  const entries: [AuditAction, string, string][] = []
  if (user.external_id !== before.external_id)
    entries.push(['external id changed', user.id, user.external_id ?? ''])
  if (user.email !== before.email) entries.push(['e-mail changed', user.id, user.email ?? ''])
  if (user.disabled_at !== before.disabled_at)
    entries.push([
      user.disabled_at === null ? 'user enabled' : 'user disabled',
      user.id,
      nameOf(user),
    ])
  if (user.banned_at !== before.banned_at)
    entries.push([user.banned_at === null ? 'user unbanned' : 'user banned', user.id, nameOf(user)])
  return entries
}
