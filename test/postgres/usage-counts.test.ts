import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { openStore } from './claims/outcomes.ts'
import { untilWaiting } from './other-session.ts'
import { usageCounts } from '../../src/keys/records/usage-counts.ts'

/*
 * Two processes write to the same counts at the same time.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('two processes that write the same counts in opposite order both succeed', async (t) => {
  const url = await createMigratedDatabase(server)
  const [first, second] = [await openStore(t, url), await openStore(t, url)]
  const counts = Array.from({ length: 20 }, (_, slot) => ({
    api_key_id: crypto.randomUUID(),
    slot,
    answered: 1,
    limited: 2,
    revoked: 3,
  }))
  await usageCounts(first.counting).addUsageCounts(counts)
  await asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await admin.query('SELECT FROM usage_counts WHERE slot = 10 FOR NO KEY UPDATE')
    const both = Promise.all([
      usageCounts(first.counting).addUsageCounts(counts),
      usageCounts(second.counting).addUsageCounts(counts.toReversed()),
    ])
    both.catch(() => {})
    // Each has written some of them by now.
    await untilWaiting(url, 2)
    await admin.query('COMMIT')
    await both
  })
  const written = await usageCounts(first.database).listUsageCounts(
    counts.map(({ api_key_id }) => api_key_id),
    0,
  )
  assert.deepEqual(
    written.toSorted((a, b) => a.slot - b.slot),
    counts.map((count) => ({ ...count, answered: 3, limited: 6, revoked: 9 })),
  )
})

/** Slows each write of a count down, so that concurrent writers meet at many of them. */
async function slowDown(url: string): Promise<void> {
  await asAdmin(url, (client) =>
    client.query(`
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END';
      CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON usage_counts
        FOR EACH ROW EXECUTE FUNCTION slow()
    `),
  )
}

test('two processes that roll up the same hours lose no count, and both succeed', async (t) => {
  const url = await createMigratedDatabase(server)
  const stores = [await openStore(t, url), await openStore(t, url)]
  const ids = Array.from({ length: 15 }, () => crypto.randomUUID())
  const slots = Array.from({ length: 24 }, (_, slot) => slot)
  for (const slot of slots)
    await usageCounts(stores[0]!.counting).addUsageCounts(
      ids.map((api_key_id) => ({ api_key_id, slot, answered: 1, limited: 2, revoked: 3 })),
    )
  await slowDown(url)
  await Promise.all(
    stores.map(async (store) => {
      while (await usageCounts(store.counting).rollUpUsageCounts(24));
    }),
  )
  const left = await usageCounts(stores[0]!.database).listUsageCounts(ids, 0)
  const hours = [0, 6, 12, 18].flatMap((slot) =>
    ids.map((api_key_id) => ({ api_key_id, slot, answered: 6, limited: 12, revoked: 18 })),
  )
  assert.deepEqual(new Set(left), new Set(hours))
})
