import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { presentInstant } from '../../src/model/instant.ts'
import { issueApiKey } from '../../src/keys/records/issued-keys.ts'
import type { Store } from '../../src/database/store.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addUser } from '../fixtures/service.ts'
import { openStore } from './claims/outcomes.ts'
import { removeServer, setStatus } from '../fixtures/changed-servers.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { serverExports } from '../../src/servers/records/server-exports.ts'
import { operatorAt } from '../../src/model/audit.ts'

/*
 * Several processes write to the same rows at the same time.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** Slows each write to a row of the table down, so that concurrent writers meet. */
async function slowDown(url: string, table: string): Promise<void> {
  await asAdmin(url, (client) =>
    client.query(`
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END';
      CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION slow()
    `),
  )
}

test('five keys issued to one user at once all succeed, and a sixth is refused', async (t) => {
  const url = await createMigratedDatabase(server)
  const stores: Store[] = []
  for (let n = 0; n < 6; n += 1) stores.push(await openCommand(t, url))
  await slowDown(url, 'api_keys')
  for (const name of ['ada', 'bob', 'cem']) {
    const user = await addUser(stores[0]!, `${name}@example.com`)
    const issue = (n: number) =>
      issueApiKey(stores[n]!.database, user.id, `bot ${n}`, operatorAt(presentInstant()))
    const issued = await Promise.all([0, 1, 2, 3, 4].map(issue))
    assert.deepEqual(
      issued.filter((one) => 'refused' in one),
      [],
    )
    assert.ok('refused' in (await issue(5)))
  }
})

test('an import and forms that change the same servers do not deadlock', async (t) => {
  const url = await createMigratedDatabase(server)
  const stores = [await openStore(t, url), await openStore(t, url)] as const
  const user = await addUser(stores[0], 'ada@example.com')
  const entries = Array.from({ length: 20 }, (_, n) => ({ name: `${n}`, address: `${n}.example` }))
  const changes = entries.slice(0, 19).map((entry) => ({ ...entry, version: '2' }))
  await serverImports(stores[0].database).saveServers(user.id, null, entries, operatorAt(1))
  const ids = (await serverExports(stores[0].database).listServers(user.id))
    .toSorted((a, b) => Number(a.name) - Number(b.name))
    .map(({ id }) => id)
  await slowDown(url, 'servers')
  const [saved, ...changed] = await Promise.all([
    serverImports(stores[0].database).saveServers(user.id, null, changes, operatorAt(2)),
    setStatus(stores[1].database, user.id, ids[18]!, 'draft', 3),
    setStatus(stores[1].database, user.id, ids[17]!, 'draft', 3),
    removeServer(stores[1].database, user.id, ids[19]!, 3),
  ])
  assert.deepEqual([saved.changed, changed], [19, [true, true, true]])
})

test('two processes that write the same counts in opposite order both succeed', async (t) => {
  const url = await createMigratedDatabase(server)
  const stores = [await openStore(t, url), await openStore(t, url)]
  await slowDown(url, 'usage_counts')
  const counts = Array.from({ length: 20 }, (_, slot) => ({
    api_key_id: crypto.randomUUID(),
    slot,
    answered: 1,
    limited: 2,
    revoked: 3,
  }))
  for (let round = 0; round < 2; round += 1)
    await Promise.all([
      stores[0]!.addUsageCounts(counts),
      stores[1]!.addUsageCounts(counts.toReversed()),
    ])
  const written = await stores[0]!.listUsageCounts(
    counts.map(({ api_key_id }) => api_key_id),
    0,
  )
  assert.deepEqual(
    written.toSorted((a, b) => a.slot - b.slot),
    counts.map((count) => ({ ...count, answered: 4, limited: 8, revoked: 12 })),
  )
})

test('two processes that roll up the same hours lose no count, and both succeed', async (t) => {
  const url = await createMigratedDatabase(server)
  const stores = [await openStore(t, url), await openStore(t, url)]
  const ids = Array.from({ length: 15 }, () => crypto.randomUUID())
  const slots = Array.from({ length: 24 }, (_, slot) => slot)
  for (const slot of slots)
    await stores[0]!.addUsageCounts(
      ids.map((api_key_id) => ({ api_key_id, slot, answered: 1, limited: 2, revoked: 3 })),
    )
  await slowDown(url, 'usage_counts')
  await Promise.all(
    stores.map(async (store) => {
      while (await store.rollUpUsageCounts(24));
    }),
  )
  const left = await stores[0]!.listUsageCounts(ids, 0)
  const hours = [0, 6, 12, 18].flatMap((slot) =>
    ids.map((api_key_id) => ({ api_key_id, slot, answered: 6, limited: 12, revoked: 18 })),
  )
  assert.deepEqual(new Set(left), new Set(hours))
})

async function openCommand(t: TestContext, url: string) {
  const store = await openPostgresStore(url, { create: true })
  t.after(() => store.close())
  return store
}
