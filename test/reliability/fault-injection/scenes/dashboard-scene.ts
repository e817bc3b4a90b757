import { hash, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseConfig } from '../../../../src/config/database-url.ts'
import { hashApiKey } from '../../../../src/model/key-hash.ts'
import { DAY_US, presentInstant } from '../../../../src/model/instant.ts'
import { issueApiKey } from '../../../../src/keys/records/issued-keys.ts'
import type { ServerFields } from '../../../../src/servers/server.ts'
import type { Store } from '../../../../src/database/store.ts'
import type { AddressedUser } from '../../../../src/accounts/user.ts'
import { NO_LISTINGS } from '../../../fixtures/listings.ts'
import {
  type DashboardSettings,
  type OpenDatabase,
  PASSWORD,
  startDashboard,
  type TestDashboard,
} from '../../../fixtures/dashboard.ts'
import type { Person } from '../../../fixtures/person.ts'
import { postgresTables, sqliteTables, type Tables } from '../tables.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/** A dashboard with one of everything, and its tables. */
export interface Scene {
  dashboard: TestDashboard
  tables: Tables
  ada: Person
  user: AddressedUser
  /** The browsers of everyone else, and of Ada after her session has ended or become old. */
  others: Record<Other, Person>
  /** The ids of those who are signed in. */
  ids: Record<(typeof SIGNED_IN)[number], string>
  /** The token of Ada's sign-in link. */
  link: string
  /** Other sessions of Ada: of another browser, and of `late`. */
  otherSession: string
  lateSession: string
  keys: { id: string; key: string }[]
  server: string
  /** Another server of Ada's, and its deletion, which can be undone. */
  deleted: string
  deletion: string
  /** What Ada's import of `IMPORTED` does, as its check says. */
  fingerprint: string
  /**
   * Ada's organization, with her server and one that a former member left. Bob and the
   * disabled user are members.
   */
  organization: string
  shared: string
  left: string
  bob: AddressedUser
  /** A user whom an operator has disabled. Ada is an operator, and so is `operator`. */
  disabled: AddressedUser
  /** An organization without servers or other members. */
  emptyOrganization: string
  /** Bob's organization. */
  otherOrganization: string
}

/** `late` is Ada, whose sign-in is too old to issue a key without the password. */
export type Other = (typeof SIGNED_IN)[number] | (typeof SIGNED_OUT)[number] | 'late'
export const SIGNED_IN = ['member', 'former', 'operator', 'other'] as const
export const SIGNED_OUT = ['disabled', 'ended', 'visitor'] as const

/** An age of a sign-in that requires the password to issue a key. */
const LATE_MS = 700_000

export const SERVER: ServerFields = {
  name: 'Survival',
  address: 'play.example.com',
  slug: 'survival',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: null,
  organization_id: null,
}
export const IMPORTED = [{ name: 'Imported', address: 'imported.example.com' }]
const NOW = 1_700_000_000_000_000
const OPERATOR = 'operator@example.com'

export async function openScene(
  t: TestContext,
  open: OpenDatabase,
  settings: DashboardSettings = {},
  openTables = tablesOf,
): Promise<Scene> {
  const { dashboard, tables } = await openEmptyScene(t, open, settings, openTables)
  const { store } = dashboard
  const { person: ada, user } = await dashboard.signedIn('ada@example.com')
  const { others, ids, bob, left, disabled } = await signInOthers(dashboard)
  const { listSessions } = recordsOf(store)
  const sessions = await listSessions(user.id, presentInstant())
  const keys: Scene['keys'] = []
  for (const name of ['one', 'two']) {
    const issued = await issueApiKey(store.database, user.id, name, operatorAt(NOW + keys.length))
    if ('refused' in issued) throw new Error(issued.refused)
    keys.push({ id: issued.apiKey.id, key: issued.key })
  }
  const server = randomUUID()
  await recordsOf(store).insertServer(user.id, server, SERVER, operatorAt(NOW))
  await store.claim(hashApiKey(keys[0]!.key), NO_LISTINGS)
  const organizations = await makeOrganizations(store, user, bob, left, disabled)
  const imports = await makeChanges(store, user)
  const link = 'token-of-the-link'
  const tokenHash = hash('sha256', link, 'hex')
  await recordsOf(store).keepSignInLink(
    {
      userId: user.id,
      tokenHash,
      expiresAt: presentInstant() + DAY_US,
    },
    operatorAt(presentInstant()),
  )
  await tables.remember()
  const [otherSession, lateSession] = [sessions.at(0)!.id, sessions.at(-1)!.id]
  const people = { ada, user, others, ids, otherSession, lateSession, bob, disabled }
  return { dashboard, tables, ...people, link, keys, server, ...organizations, ...imports }
}

async function signInOthers(dashboard: TestDashboard) {
  const { signedIn, visitor, elapse } = dashboard
  elapse(-LATE_MS)
  const late = visitor()
  await late.signIn('ada@example.com', PASSWORD)
  elapse(LATE_MS)
  const browser = visitor()
  await browser.signIn('ada@example.com', PASSWORD)
  const ended = browser.copy()
  await browser.post('/sign-out')
  await nextMillisecond()
  await visitor().signIn('ada@example.com', PASSWORD)
  const join = async (email: string) => {
    await nextMillisecond()
    return signedIn(email)
  }
  const { person: member, user: bob } = await join('bob@example.com')
  const { person: former, user: left } = await join('left@example.com')
  const { person: operator, user: eve } = await join(OPERATOR)
  const { person: other, user: otto } = await join('other@example.com')
  const { person: refused, user: disabled } = await join('disabled@example.org')
  const signedOut = { disabled: refused, ended, visitor: visitor() }
  return {
    others: { member, former, operator, other, ...signedOut, late },
    ids: { member: bob.id, former: left.id, operator: eve.id, other: otto.id },
    bob,
    left,
    disabled,
  }
}

/** Users and sessions of one millisecond are listed in the order of their random ids. */
async function nextMillisecond(): Promise<void> {
  const now = presentInstant()
  while (presentInstant() === now) await nextTurn()
}

async function makeChanges(
  store: Store,
  { id: userId }: AddressedUser,
): Promise<Pick<Scene, 'deleted' | 'deletion' | 'fingerprint'>> {
  const now = presentInstant()
  const [deleted, deletion] = [randomUUID(), randomUUID()]
  await recordsOf(store).insertServer(
    userId,
    deleted,
    { ...SERVER, slug: 'deleted' },
    operatorAt(NOW),
  )
  await recordsOf(store).changeServers(
    userId,
    { id: deletion, becomes: null, servers: [deleted] },
    operatorAt(now),
  )
  const { fingerprint } = await recordsOf(store).planServers(userId, null, IMPORTED, now)
  return { deleted, deletion, fingerprint }
}

async function makeOrganizations(
  store: Store,
  ada: AddressedUser,
  bob: AddressedUser,
  left: AddressedUser,
  disabled: AddressedUser,
) {
  const joined = {
    organization: randomUUID(),
    emptyOrganization: randomUUID(),
    otherOrganization: randomUUID(),
  }
  const { organization, emptyOrganization, otherOrganization } = joined
  await recordsOf(store).insertOrganization(
    ada.id,
    { id: organization, slug: 'guild', name: 'Guild' },
    operatorAt(NOW),
  )
  const empty = { id: emptyOrganization, slug: 'empty', name: 'Empty' }
  await recordsOf(store).insertOrganization(ada.id, empty, operatorAt(NOW))
  const other = { id: otherOrganization, slug: 'other', name: 'Other' }
  await recordsOf(store).insertOrganization(bob.id, other, operatorAt(NOW))

  const now = presentInstant()
  // The oldest member inherits the organization.
  for (const [index, { email }] of [bob, left, disabled].entries()) {
    const actor = operatorAt(now + index)
    await recordsOf(store).addMember(ada.id, organization, email, actor)
  }
  await recordsOf(store).setDisabled(disabled.id, true, operatorAt(presentInstant()))
  const owned = { shared: randomUUID(), left: randomUUID() }
  const fields = { ...SERVER, organization_id: organization }
  await recordsOf(store).insertServer(ada.id, owned.shared, fields, operatorAt(NOW))
  await recordsOf(store).insertServer(left.id, owned.left, fields, operatorAt(NOW - 1))
  await recordsOf(store).removeMember(ada.id, organization, left.id, operatorAt(presentInstant()))
  return { ...joined, ...owned }
}

/** A dashboard without accounts, and the token of its setup link. */
export async function openSetup(
  t: TestContext,
  open: OpenDatabase,
  openTables = tablesOf,
): Promise<EmptyScene & { token: string }> {
  const scene = await openEmptyScene(t, open, {}, openTables)
  const token = await recordsOf(scene.dashboard.store).keepSecret('setup', 'token-of-the-setup')
  await scene.tables.remember()
  return { ...scene, token }
}

type EmptyScene = Pick<Scene, 'dashboard' | 'tables'>

async function openEmptyScene(
  t: TestContext,
  open: OpenDatabase,
  settings: DashboardSettings,
  openTables: typeof tablesOf,
): Promise<EmptyScene> {
  const database = await open(t)
  const operators = ['ada@example.com', OPERATOR]
  const dashboard = await startDashboard(t, { publicPages: true, ...settings, database, operators })
  const tables = await openTables(database)
  t.after(tables.close)
  // The first request loads the dashboard.
  await dashboard.visitor().get('/sign-in')
  return { dashboard, tables }
}

function tablesOf(database: DatabaseConfig): Tables | Promise<Tables> {
  if (database.engine === 'postgres') return postgresTables(database.url)
  if (database.engine === null) throw new Error(database.problem)
  return sqliteTables(database.path)
}
