import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { claimBatch, classifyAfterFailure } from '../../../src/postgres/claims/claims.ts'
import { createClockedDatabase } from '../../fixtures/postgres/clock.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { whileLocked } from '../other-session.ts'
import { callWith, nameOf, openBatches } from './open-batches.ts'

/* The limits of the statements, to the microsecond: the database's clock stands still. */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a key is limited for one second, to the microsecond', async (t) => {
  const { url, ada, elapse, decide } = await openClocked(t)
  assert.equal(await decide(), 'granted')
  // The stamp is the present instant, which is not in the future.
  assert.equal(await decide(), 'limited')
  await elapse(999.999)
  assert.equal(await decide(), 'limited')
  await elapse(0.001)
  // From now on a locked row is no cause for a 429.
  await whileLocked(url, ada.keyId, async () => assert.equal(await decide(), 'busy'))
  assert.equal(await decide(), 'granted')
})

test('after a crash known keys fail for one second, to the microsecond', async (t) => {
  const { client, elapse, decide } = await openClocked(t)
  await client.query('UPDATE service_epoch SET started_at = clock_timestamp()')
  await elapse(999.999)
  assert.equal(await decide(), 'AuthenticationFault')
  await elapse(0.001)
  assert.equal(await decide(), 'granted')
})

test('after a failed statement a key is limited for one second, to the microsecond', async (t) => {
  const { client, ada, elapse, decide } = await openClocked(t)
  const classify = async () => {
    const failed = new pg.DatabaseError('x', 1, 'error')
    const [outcome] = await classifyAfterFailure(client, [callWith(ada.key)], failed)
    return nameOf(outcome!)
  }
  assert.equal(await classify(), 'ListFault')
  assert.equal(await decide(), 'granted')
  assert.equal(await classify(), 'limited')
  await elapse(999.999)
  assert.equal(await classify(), 'limited')
  await elapse(0.001)
  assert.equal(await classify(), 'ListFault')
})

async function openClocked(t: TestContext) {
  const { url, elapse } = await createClockedDatabase(t, server)
  const { client, known, ada } = await openBatches(t, url)
  const decide = async () => {
    const [outcome] = await claimBatch(client, known, [callWith(ada.key)])
    return nameOf(outcome!)
  }
  return { url, client, ada, elapse, decide }
}
