import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../src/database-url.ts'
import { hashApiKey } from '../../src/listing/api-key.ts'
import { issueApiKey } from '../../src/listing/manage-api-keys.ts'
import type { ServerFields } from '../../src/listing/registered-server.ts'
import type { User } from '../../src/listing/user.ts'
import { type OpenDatabase, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import { postgresTables, sqliteTables, type Tables } from './tables.ts'

/** A dashboard with a little of everything in it, and its tables. */
export interface Scene {
  dashboard: TestDashboard
  tables: Tables
  ada: Person
  user: User
  bob: User
  keys: { id: string; key: string }[]
  server: string
  organization: string
  /** One with no server in it. */
  emptyOrganization: string
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
const NOW = 1_700_000_000_000_000

export async function openScene(t: TestContext, open: OpenDatabase): Promise<Scene> {
  const { dashboard, tables } = await openEmptyScene(t, open)
  const { store } = dashboard
  const { person: ada, user } = await dashboard.signedIn('ada@example.com')
  const { user: bob } = await dashboard.signedIn('bob@example.com')
  const keys: Scene['keys'] = []
  for (const name of ['one', 'two']) {
    const issued = await issueApiKey(store, user.id, name, NOW)
    if ('refused' in issued) throw new Error(issued.refused)
    keys.push({ id: issued.apiKey.id, key: issued.key })
  }
  const server = randomUUID()
  await store.insertServer(user.id, server, SERVER, NOW)
  const [organization, emptyOrganization] = [randomUUID(), randomUUID()]
  await store.insertOrganization(user.id, { id: organization, slug: 'guild', name: 'Guild' })
  await store.insertOrganization(user.id, { id: emptyOrganization, slug: 'empty', name: 'Empty' })
  await store.addMember(user.id, organization, bob.email)
  await store.insertServer(user.id, randomUUID(), { ...SERVER, organization_id: organization }, NOW)
  await store.useApiKey(hashApiKey(keys[0]!.key), () => null)
  await tables.remember()
  return { dashboard, tables, ada, user, bob, keys, server, organization, emptyOrganization }
}

/** A dashboard that nobody has an account at, and the token of its setup link. */
export async function openSetup(
  t: TestContext,
  open: OpenDatabase,
): Promise<EmptyScene & { token: string }> {
  const scene = await openEmptyScene(t, open)
  const token = await scene.dashboard.store.keepSecret('setup', 'token-of-the-setup')
  await scene.tables.remember()
  return { ...scene, token }
}

type EmptyScene = Pick<Scene, 'dashboard' | 'tables'>

async function openEmptyScene(t: TestContext, open: OpenDatabase): Promise<EmptyScene> {
  let database: DatabaseConfig | undefined
  const dashboard = await startDashboard(t, async (context) => {
    database = await open(context)
    return database
  })
  const tables = await tablesOf(database!)
  t.after(tables.close)
  // The first one loads the dashboard, and makes what cookies are signed with.
  await dashboard.visitor().get('/sign-in')
  return { dashboard, tables }
}

function tablesOf(database: DatabaseConfig): Tables | Promise<Tables> {
  if (database.engine === 'postgres') return postgresTables(database.url)
  if (database.engine === null) throw new Error(database.problem)
  return sqliteTables(database.path)
}
