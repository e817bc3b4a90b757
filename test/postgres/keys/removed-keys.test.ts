import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { claimBatch } from '../../../src/postgres/claims/claims.ts'
import { createClockedDatabase } from '../../fixtures/postgres/clock.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { callWith, nameOf, openBatches } from '../claims/open-batches.ts'

/*
 * A key that is deleted and inserted again, as a reload does, gets no two 200s within a second. The
 * database's clock stands still, so the bounds are exact.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

async function openReloaded(t: TestContext) {
  const { url, elapse } = await createClockedDatabase(t, server)
  const { client, known, ada } = await openBatches(t, url)
  const decide = async () => nameOf((await claimBatch(client, known, [callWith(ada.key)]))[0]!)
  /** Removes the keys with this statement, waits, and inserts them again with this last use. */
  const reload = async (removal: string, milliseconds = 0, lastUse = 'NULL') => {
    const columns = 'id, user_id, name, prefix, key_hash, created_at'
    await client.query(`CREATE TEMP TABLE reloaded AS SELECT ${columns} FROM api_keys; ${removal}`)
    await elapse(milliseconds)
    await client.query(
      `INSERT INTO api_keys (${columns}, last_used_at)
         SELECT *, ${lastUse}::timestamptz FROM reloaded;
       DROP TABLE reloaded`,
    )
  }
  return { client, elapse, decide, reload }
}

test('a deleted key that comes back is limited by its last use', async (t) => {
  const { elapse, decide, reload } = await openReloaded(t)
  assert.equal(await decide(), 'granted')
  await elapse(999.998)
  // The second deletion finds the row of the first one.
  for (let round = 0; round < 2; round += 1) {
    await reload('DELETE FROM api_keys')
    assert.equal(await decide(), 'limited')
  }
  await elapse(0.001)
  await reload('DELETE FROM api_keys')
  assert.equal(await decide(), 'limited')
  await elapse(0.001)
  await reload('DELETE FROM api_keys')
  assert.equal(await decide(), 'granted')
  await reload('DELETE FROM api_keys', 999.999)
  assert.equal(await decide(), 'limited')
  // Of two uses, the newer one counts.
  await reload('DELETE FROM api_keys', 500, 'clock_timestamp()')
  await elapse(999.999)
  assert.equal(await decide(), 'limited')
})

test('last uses of deleted keys are kept for a second, and for at most a minute', async (t) => {
  const { client, elapse, decide, reload } = await openReloaded(t)
  const kept = async () => {
    const { rows } = await client.query(
      'SELECT extract(epoch FROM clock_timestamp() - claimed_at)::float AS age FROM removed_claims ORDER BY 1',
    )
    return rows.map(({ age }) => age)
  }
  assert.equal(await decide(), 'granted')
  await elapse(1_000)
  await reload('DELETE FROM api_keys')
  assert.deepEqual(await kept(), [])
  await client.query(
    `INSERT INTO removed_claims VALUES
      (decode(repeat('01', 32), 'hex'), clock_timestamp() - interval '60 seconds'),
      (decode(repeat('02', 32), 'hex'), clock_timestamp() - interval '60.000001 seconds')`,
  )
  assert.equal(await decide(), 'granted')
  await reload('DELETE FROM api_keys')
  assert.deepEqual(await kept(), [0, 60])
})

test('after TRUNCATE of the keys, every claim fails for a second', async (t) => {
  const { elapse, decide, reload } = await openReloaded(t)
  await reload('TRUNCATE api_keys CASCADE', 999.999)
  assert.equal(await decide(), 'AuthenticationFault')
  await elapse(0.001)
  assert.equal(await decide(), 'granted')
})
