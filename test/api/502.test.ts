import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createAnswer } from '../../src/api/answer.ts'
import { generateKey } from '../../src/keys/api-key.ts'
import { AuthenticationFault } from '../../src/model/faults.ts'
import type { ServerRow } from '../../src/model/server-row.ts'
import type { Claim } from '../../src/model/claim.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'

const AUTHENTICATION = '{"error":"Authentication service error."}'
const LIST = '{"error":"Failed to load servers."}'

test('without the table of claims there is no 200, but 401 and 429 still work', async (t) => {
  const { port, store, databasePath } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const { key: used } = await addOwner(store, 'bob@example.com')
  assert.equal((await ask(port, { key: used })).status, 200)
  const other = openBeside(t, databasePath)
  other.exec('PRAGMA legacy_alter_table = ON; ALTER TABLE recent_claims RENAME TO elsewhere')
  assertAnswer(await ask(port, { key }), 502, AUTHENTICATION)
  assert.equal((await ask(port, { key: used })).status, 429)
  assert.equal((await ask(port, { key: generateKey() })).status, 401)
  other.exec('ALTER TABLE elsewhere RENAME TO recent_claims')
  assert.equal((await ask(port, { key })).status, 200)
})

test('a file that another process keeps locked is a 502 after a second, and /health answers meanwhile', async (t) => {
  const { port, store, databasePath, faults } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const other = openBeside(t, databasePath)
  other.exec('BEGIN IMMEDIATE')
  const order: string[] = []
  const start = performance.now()
  const pending = ask(port, { key }).finally(() => order.push('locked'))
  assert.equal((await ask(port, { path: '/health' })).status, 200)
  order.push('health')
  assertAnswer(await pending, 502, AUTHENTICATION)
  assert.ok(performance.now() - start >= 1_000)
  assert.ok(faults[0] instanceof AuthenticationFault)
  other.exec('ROLLBACK')
  assert.equal((await ask(port, { key })).status, 200)
})

test('a file locked for a moment delays the answer and causes no 502', async (t) => {
  const { port, store, databasePath } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const other = openBeside(t, databasePath)
  other.exec('BEGIN IMMEDIATE')
  const pending = ask(port, { key })
  await ask(port, { path: '/health' })
  other.exec('COMMIT')
  assert.equal((await pending).status, 200)
})

test("a listing that can't be rendered is a 502 and is logged", async () => {
  const faults: unknown[] = []
  // No engine returns such a row. It stands for any error after the store's answer.
  const row = { name: 1n } as unknown as ServerRow
  const claim: Claim = {
    outcome: 'granted',
    apiKeyId: 'a',
    userId: 'u',
    revision: '1',
    rows: [row],
  }
  const answer = createAnswer({
    store: { claim: async () => claim },
    onFault: (fault) => void faults.push(fault),
  })
  const authorization = `Bearer ${generateKey()}`
  const { status, body } = await answer({ method: 'GET', path: '/v1/servers', authorization })
  assert.deepEqual([status, String(body)], [502, LIST])
  assert.ok(faults[0] instanceof TypeError)
})

test('a list of more than 100 servers is a 502 and is logged', async () => {
  const faults: unknown[] = []
  const row = { name: 'a' } as ServerRow
  const rows = Array.from({ length: 101 }, () => row)
  const answer = createAnswer({
    store: {
      claim: async () => ({ outcome: 'granted', apiKeyId: 'a', userId: 'u', revision: '1', rows }),
    },
    onFault: (fault) => void faults.push(fault),
  })
  const authorization = `Bearer ${generateKey()}`
  const { status, body } = await answer({ method: 'GET', path: '/v1/servers', authorization })
  assert.deepEqual([status, String(body)], [502, LIST])
  assert.match(String(faults[0]), /BrokenInvariant: not true: a list has at most 100 servers/)
})

function openBeside(t: { after(end: () => void): void }, path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  return database
}
