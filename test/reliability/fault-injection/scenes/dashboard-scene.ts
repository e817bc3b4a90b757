import { hash, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../../../src/config/database-url.ts'
import { hashApiKey } from '../../../../src/model/key-hash.ts'
import { DAY_US, presentInstant } from '../../../../src/model/instant.ts'
import { issueApiKey } from '../../../../src/keys/records/issued-keys.ts'
import type { ServerFields } from '../../../../src/servers/server.ts'
import type { Store } from '../../../../src/database/store.ts'
import { type AddressedUser, createUser } from '../../../../src/accounts/user.ts'
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
import { disabledUsers } from '../../../../src/accounts/records/disabled-users.ts'
import { sessionList } from '../../../../src/accounts/records/sessions.ts'
import { servers } from '../../../../src/servers/records/servers.ts'
import { signInLinks } from '../../../../src/accounts/records/sign-in-links.ts'
import { serverChanges } from '../../../../src/servers/records/server-changes.ts'
import { checkedImports } from '../../../../src/servers/records/checked-imports.ts'
import { organizations } from '../../../../src/organizations/records/organizations.ts'
import { users } from '../../../../src/accounts/records/users.ts'
import { invitations } from '../../../../src/organizations/records/invitations.ts'
import { secrets } from '../../../../src/accounts/records/secrets.ts'
import { operatorAt } from '../../../../src/model/audit.ts'

/** A dashboard with one of everything, and its tables. */
export interface Scene {
  dashboard: TestDashboard
  tables: Tables
  ada: Person
  user: AddressedUser
  /** The token of Ada's sign-in link. */
  link: string
  /** Another session of Ada. */
  otherSession: string
  keys: { id: string; key: string }[]
  server: string
  /** Another server of Ada's, and its deletion, which can be undone. */
  deleted: string
  deletion: string
  /** An import that waits for Ada, and what confirming it does. */
  waiting: { id: string; fingerprint: string }
  /**
   * Ada's organization, with her server and one of a former member. Bob is a member, and Dan is
   * invited.
   */
  organization: string
  bob: AddressedUser
  /** A user whom an operator has disabled. Ada is an operator. */
  disabled: AddressedUser
  /** Dan's invitation. */
  invitation: string
  /** An organization without servers or other members. */
  emptyOrganization: string
  /** Bob's organization, which has invited Ada. */
  otherOrganization: string
}

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

export async function openScene(
  t: TestContext,
  open: OpenDatabase,
  settings: DashboardSettings = {},
): Promise<Scene> {
  const { dashboard, tables } = await openEmptyScene(t, open, settings)
  const { store } = dashboard
  const { person: ada, user } = await dashboard.signedIn('ada@example.com')
  await dashboard.visitor().signIn('ada@example.com', PASSWORD)
  const [newest] = await sessionList(store.database).listSessions(user.id, presentInstant())
  const { user: bob } = await dashboard.signedIn('bob@example.com')
  const keys: Scene['keys'] = []
  for (const name of ['one', 'two']) {
    const issued = await issueApiKey(store.database, user.id, name, operatorAt(NOW + keys.length))
    if ('refused' in issued) throw new Error(issued.refused)
    keys.push({ id: issued.apiKey.id, key: issued.key })
  }
  const server = randomUUID()
  await servers(store.database).insertServer(user.id, server, SERVER, operatorAt(NOW))
  await store.claim(hashApiKey(keys[0]!.key), NO_LISTINGS)
  const disabled = createUser('disabled@example.org')
  await users(store.database).insertUser(disabled, operatorAt(NOW))
  await disabledUsers(store.database).setDisabled(disabled.id, true, operatorAt(NOW))
  const organizations = await makeOrganizations(store, user, bob)
  const imports = await makeChanges(store, user)
  const link = 'token-of-the-link'
  const tokenHash = hash('sha256', link, 'hex')
  await signInLinks(store.database).keepSignInLink(
    {
      userId: user.id,
      tokenHash,
      expiresAt: presentInstant() + DAY_US,
    },
    operatorAt(presentInstant()),
  )
  await tables.remember()
  const otherSession = newest!.id
  const people = { ada, user, otherSession, bob, disabled }
  return { dashboard, tables, ...people, link, keys, server, ...organizations, ...imports }
}

async function makeChanges(
  store: Store,
  { id: userId }: AddressedUser,
): Promise<Pick<Scene, 'deleted' | 'deletion' | 'waiting'>> {
  const now = presentInstant()
  const [deleted, deletion, id] = [randomUUID(), randomUUID(), randomUUID()]
  await servers(store.database).insertServer(
    userId,
    deleted,
    { ...SERVER, slug: 'deleted' },
    operatorAt(NOW),
  )
  await serverChanges(store.database).changeServers(
    userId,
    { id: deletion, becomes: null, servers: [deleted] },
    operatorAt(now),
  )
  await checkedImports(store.database).keepImport(userId, id, IMPORTED, now)
  const { fingerprint } = await checkedImports(store.database).planServers(userId, IMPORTED)
  return { deleted, deletion, waiting: { id, fingerprint } }
}

async function makeOrganizations(store: Store, ada: AddressedUser, bob: AddressedUser) {
  const joined = {
    organization: randomUUID(),
    emptyOrganization: randomUUID(),
    otherOrganization: randomUUID(),
  }
  const { organization, emptyOrganization, otherOrganization } = joined
  await organizations(store.database).insertOrganization(
    ada.id,
    { id: organization, slug: 'guild', name: 'Guild' },
    operatorAt(NOW),
  )
  const empty = { id: emptyOrganization, slug: 'empty', name: 'Empty' }
  await organizations(store.database).insertOrganization(ada.id, empty, operatorAt(NOW))
  const other = { id: otherOrganization, slug: 'other', name: 'Other' }
  await organizations(store.database).insertOrganization(bob.id, other, operatorAt(NOW))

  const left = createUser('left@example.com')
  await users(store.database).insertUser(left, operatorAt(presentInstant()))
  const now = presentInstant()
  for (const { email, id } of [bob, left]) {
    await invitations(store.database).invite(ada.id, organization, email, 0, operatorAt(now))
    await invitations(store.database).acceptInvitation(id, organization, 0, operatorAt(now))
  }
  for (const [index, { id }] of [ada, left].entries()) {
    const fields = { ...SERVER, organization_id: organization }
    await servers(store.database).insertServer(id, randomUUID(), fields, operatorAt(NOW - index))
  }
  await organizations(store.database).removeMember(
    ada.id,
    organization,
    left.id,
    operatorAt(presentInstant()),
  )
  await invitations(store.database).invite(
    ada.id,
    organization,
    'dan@example.com',
    0,
    operatorAt(now),
  )
  const [invited] = await invitations(store.database).listInvited(ada.id, organization, 0)
  await invitations(store.database).invite(bob.id, otherOrganization, ada.email, 0, operatorAt(now))
  return { ...joined, invitation: invited!.id }
}

/** A dashboard without accounts, and the token of its setup link. */
export async function openSetup(
  t: TestContext,
  open: OpenDatabase,
): Promise<EmptyScene & { token: string }> {
  const scene = await openEmptyScene(t, open)
  const token = await secrets(scene.dashboard.store.database).keepSecret(
    'setup',
    'token-of-the-setup',
  )
  await scene.tables.remember()
  return { ...scene, token }
}

type EmptyScene = Pick<Scene, 'dashboard' | 'tables'>

async function openEmptyScene(
  t: TestContext,
  open: OpenDatabase,
  settings: DashboardSettings = {},
): Promise<EmptyScene> {
  const database = await open(t)
  const operators = ['ada@example.com']
  const dashboard = await startDashboard(t, { publicPages: true, ...settings, database, operators })
  const tables = await tablesOf(database)
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
