import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addOwner } from '../../fixtures/service.ts'
import { checkHeldRow } from '../../postgres/claims/held-row.ts'
import { openStore, outcomeOf } from '../../postgres/claims/outcomes.ts'

/*
 * What clients see while an operator works on the rows of keys. The tests in
 * `test/reliability/system/` hold a row for longer.
 */

const KEYS = 10
const ROUNDS = 4
/** The pace of a polite client. */
const PACE_MS = 1_100

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a row locked by an operator is a 502 and one log line, never a 429', async (t) => {
  await checkHeldRow(t, await createMigratedDatabase(server), 1_500)
})

test('a row changed by an operator costs a polite client a wait, never a 429', async (t) => {
  const url = await createMigratedDatabase(server)
  const store = await openStore(t, url)
  const keys: string[] = []
  for (let number = 0; number < KEYS; number += 1)
    keys.push((await addOwner(store, `user${number}@example.com`)).key)
  const over = new AbortController()
  let updates = 0
  const operator = asAdmin(url, async (admin) => {
    while (!over.signal.aborted) {
      await admin.query(`UPDATE api_keys SET name = 'n' || ($1::int % 10)`, [updates])
      updates += 1
    }
  })
  const outcomes = await Promise.all(
    keys.map(async (key, index) => {
      await delay((PACE_MS / KEYS) * index)
      const own: string[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        own.push(await outcomeOf(store, key))
        await delay(PACE_MS)
      }
      return own
    }),
  )
  over.abort()
  await operator
  t.diagnostic(`${updates} updates`)
  assert.ok(updates > 100)
  assert.deepEqual([...new Set(outcomes.flat())], ['granted'])
})
