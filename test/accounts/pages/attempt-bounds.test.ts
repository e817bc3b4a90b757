import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Hono } from 'hono'
import { attempt } from '../../../src/accounts/pages/sign-in/attempts.ts'
import type { Dashboard, Env } from '../../../src/web/context.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { openServingStore } from '../../../src/open-store.ts'
import { sqliteDatabase } from '../../fixtures/dashboard.ts'

/*
 * How attempts count, apart from the passwords themselves.
 */

const EMAIL = 'ada@example.com'

type Body = () => Promise<true | null>

const wrong: Body = () => Promise.resolve(null)
const good: Body = () => Promise.resolve(true)
const broken: Body = () => Promise.reject(new Error('the database is away'))

test('an attempt that ends in a fault does not count', async (t) => {
  const tryFrom = await attemptsOn(t)
  for (let index = 0; index < 12; index += 1)
    assert.equal(await tryFrom('192.0.2.1', broken), 'fault')
  for (let index = 0; index < 5; index += 1) assert.equal(await tryFrom('192.0.2.1', wrong), 401)
  assert.equal(await tryFrom('192.0.2.1', good), 429)
})

test('one account accepts at most 100 wrong passwords, from any number of addresses', async (t) => {
  const tryFrom = await attemptsOn(t)
  for (let index = 0; index < 100; index += 1)
    assert.equal(await tryFrom(`192.0.2.${index}`, wrong), 401, `attempt ${index + 1}`)
  assert.equal(await tryFrom('192.0.2.100', good), 429)
  assert.equal(await tryFrom('192.0.2.100', good, 'bob@example.com'), 'good')
})

test('a right password does not count against the account or the address', async (t) => {
  const tryFrom = await attemptsOn(t)
  for (let index = 0; index < 101; index += 1)
    assert.equal(await tryFrom('192.0.2.1', good), 'good', `attempt ${index + 1}`)
})

/** Returns a function that makes attempts from an address. */
async function attemptsOn(t: TestContext) {
  const store = await openServingStore(await sqliteDatabase(t), assert.ifError)
  t.after(() => store.close())
  const dashboard = {
    database: store.database,
    readAddress: (address: string) => address,
    now: presentInstant,
    onFault: assert.ifError,
  } as unknown as Dashboard
  return async (remoteAddress: string, body: Body, email = EMAIL) => {
    const app = new Hono<Env>()
    app.post('/', async (c) => {
      const tried = await attempt(dashboard, c, email, body).catch(() => 'fault' as const)
      if (tried === 'fault') return c.json(tried)
      return c.json(tried.outcome === 'good' ? 'good' : tried.status)
    })
    const env = { incoming: { socket: { remoteAddress } } }
    const answer = await app.request('/', { method: 'POST' }, env)
    return answer.json() as Promise<'good' | 'fault' | number>
  }
}
