import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { migratePostgres } from '../../src/postgres/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import {
  activeKeys,
  fill,
  idOf,
  issueKeys,
  query,
  restore,
  rowsOfPostgres,
  rowsRestored,
} from './postgres-rows.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const ROLE = `listing_only_${process.pid}_${Date.now()}`

/**
 * A database of a site, whose tables have names of ours, too. A role without any other right owns a
 * schema in it.
 */
async function siteWith(
  t: TestContext,
): Promise<{ url: string; asRole: (path: string) => string }> {
  const url = await createDatabase(server)
  await query(
    url,
    `CREATE ROLE ${ROLE} LOGIN PASSWORD 'listing' NOSUPERUSER NOCREATEDB NOCREATEROLE;
     REVOKE ALL ON DATABASE ${new URL(url).pathname.slice(1)} FROM PUBLIC;
     REVOKE ALL ON SCHEMA public FROM PUBLIC;
     GRANT CONNECT ON DATABASE ${new URL(url).pathname.slice(1)} TO ${ROLE};
     GRANT USAGE ON SCHEMA public TO ${ROLE};
     CREATE SCHEMA listing AUTHORIZATION ${ROLE};
     CREATE TABLE public.users (id int PRIMARY KEY);
     CREATE TABLE public.servers (id int PRIMARY KEY, of int REFERENCES public.users);
     CREATE TABLE public.restoring_users (id int);
     INSERT INTO public.users VALUES (1), (2); INSERT INTO public.servers VALUES (1, 1)`,
  )
  t.after(async () => {
    await removeDatabase(server, url)
    await query(server.url(), `DROP ROLE ${ROLE}`)
  })
  const asRole = (path: string) => {
    const role = new URL(url)
    role.username = ROLE
    role.password = 'listing'
    return `${role.href}?options=-csearch_path%3D${path}`
  }
  return { url, asRole }
}

for (const searchPath of ['listing', 'listing,public'])
  test(`a role that owns only a schema restores it, and the site keeps its tables: ${searchPath}`, async (t) => {
    const { url, asRole } = await siteWith(t)
    const own = asRole(searchPath)
    const path = join(temporaryFolder(t), 'archive')
    await migratePostgres(own)
    await fill(own)
    await backUpPostgres(own, path)
    const rows = await rowsOfPostgres(own)
    await query(own, `${issueKeys(1, 60)} DELETE FROM servers`)
    await query(url, 'INSERT INTO public.users VALUES (3); UPDATE public.servers SET of = 3')
    const before = await siteRows(url)

    const { kept } = await restore(own, path)
    assert.deepEqual(await rowsRestored(own), rows)
    assert.deepEqual(await siteRows(url), before)
    await restore(own, kept!)
    assert.deepEqual(await activeKeys(own), [31, 60])
    assert.deepEqual(await siteRows(url), before)
  })

/** A database of the service's own role, and an archive of it. */
async function archivedSite(t: TestContext) {
  const { asRole } = await siteWith(t)
  const own = asRole('listing')
  const path = join(temporaryFolder(t), 'archive')
  await migratePostgres(own)
  await fill(own)
  await backUpPostgres(own, path)
  return { own, path }
}

test('a role from which a policy hides rows neither backs up nor restores', async (t) => {
  const { own, path } = await archivedSite(t)
  const rows = await rowsOfPostgres(own)
  await query(own, 'ALTER TABLE passwords ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
  const refused = /affected by row-level security policy for table "passwords"/
  await assert.rejects(backUpPostgres(own, join(temporaryFolder(t), 'lacks')), refused)
  await assert.rejects(restore(own, path), refused)
  await query(own, 'ALTER TABLE passwords DISABLE ROW LEVEL SECURITY')
  assert.deepEqual(await rowsOfPostgres(own), rows)
})

test('columns that a site has added to our tables keep their values', async (t) => {
  const { own, path } = await archivedSite(t)
  await query(
    own,
    `ALTER TABLE servers ADD votes integer NOT NULL DEFAULT 0;
     UPDATE servers SET votes = 7, name = 'changed'; DELETE FROM servers WHERE id = '${idOf(22)}'`,
  )
  await restore(own, path)
  const found = await query(
    own,
    `SELECT votes, name = 'changed' AS changed FROM servers ORDER BY id`,
  )
  assert.deepEqual(found, [
    { votes: 7, changed: false },
    { votes: 0, changed: false },
  ])
})

/** The site's rows, with the place and the transaction of each. */
async function siteRows(url: string): Promise<object[][]> {
  const names = ['users', 'servers', 'restoring_users']
  return Promise.all(names.map((name) => query(url, `SELECT ctid, xmin, * FROM public.${name}`)))
}
