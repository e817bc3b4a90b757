import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { Hono } from 'hono'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import type { Session } from '../../../src/model/session.ts'
import type { Dashboard, Env } from '../../../src/web/context.ts'
import { throttleAddress, throttleUser } from '../../../src/web/request/throttle.ts'
import {
  type Admission,
  BUDGETS,
  createTokenBuckets,
  WAITING_MAX,
} from '../../../src/web/request/token-bucket.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * A client that sends requests without a pause gets its budget and no more.
 */

test('a client’s requests run one at a time, twenty wait in order, and the next is refused', async () => {
  const buckets = createTokenBuckets(() => 0)
  const admitted: Admission[] = []
  const first = await buckets.admit('ada', 'page')
  assert.equal(first?.waited, false)
  const waiting = Array.from({ length: WAITING_MAX }, async () => {
    const admission = await buckets.admit('ada', 'page')
    admitted.push(admission!)
    return admission
  })
  assert.equal(await buckets.admit('ada', 'page'), null)
  assert.equal((await buckets.admit('bob', 'page'))?.waited, false)
  assert.equal(admitted.length, 0)
  first.end()
  for (const one of waiting) {
    const admission = await one
    assert.equal(admission?.waited, true)
    assert.equal(admitted.at(-1), admission)
    admission.end()
  }
  assert.equal((await buckets.admit('ada', 'page'))?.waited, false)
})

test('beyond 10,000 clients the idle ones are evicted, and a client with a request under way is kept', async (t) => {
  let now = 0
  // Requests that still wait end with the test.
  t.after(() => {
    now += 60_000_000
  })
  const buckets = createTokenBuckets(() => now)
  for (let taken = 0; taken < BUDGETS.page.burst; taken += 1)
    (await buckets.admit('ada', 'page'))!.end()
  const held = await buckets.admit('bob', 'page')
  for (let index = 0; index < 10_000; index += 1) (await buckets.admit(`${index}`, 'page'))!.end()
  // Ada had spent her tokens and the clock stands still, so she gets one only if she was evicted.
  const again = buckets.admit('ada', 'page')
  assert.equal((await soon(again))?.waited, false)
  let isWaiting = true
  const behind = buckets.admit('bob', 'page').then((admission) => {
    isWaiting = false
    return admission
  })
  await delay(20)
  assert.equal(isWaiting, true)
  held!.end()
  assert.equal((await behind)?.waited, true)
})

test('a client that has sent nothing for an hour has its burst and no more', async () => {
  let now = 0
  const buckets = createTokenBuckets(() => now)
  ;(await buckets.admit('ada', 'write'))!.end()
  now += 3_600_000_000
  for (let taken = 0; taken < BUDGETS.write.burst; taken += 1) {
    const admission = await buckets.admit('ada', 'write')
    assert.equal(admission?.waited, false)
    admission.end()
  }
  const late = buckets.admit('ada', 'write')
  await nextTurn()
  now += 1_000_000
  assert.equal((await late)?.waited, true)
})

test('a clock that is set back an hour gives a client no token', async () => {
  let now = 3_600_000_000
  const buckets = createTokenBuckets(() => now)
  for (let taken = 0; taken < BUDGETS.write.burst; taken += 1)
    (await buckets.admit('ada', 'write'))!.end()
  now = 0
  const late = buckets.admit('ada', 'write')
  await nextTurn()
  now += 1_000_000
  assert.equal((await late)?.waited, true)
})

test('pages without a session have a budget for each client address', async (t) => {
  const { dashboard, wind } = stoppedClock(t)
  const app = new Hono<Env>()
  app.use(throttleAddress(dashboard))
  app.all('/', (c) => c.text('a page'))
  const get = from(app)
  for (let taken = 0; taken < BUDGETS.page.burst; taken += 1)
    assert.equal((await get('192.0.2.1')).status, 200)
  let isWaiting = true
  const waiting = get('192.0.2.1').finally(() => {
    isWaiting = false
  })
  assert.equal((await soon(get('192.0.2.2')))?.status, 200)
  // Forms that sign in have limits of their own.
  assert.equal((await soon(get('192.0.2.1', {}, 'POST')))?.status, 200)
  assert.equal(isWaiting, true)
  wind()
  assert.equal((await waiting).status, 200)
})

test('the sessions of one user have one budget, and those of another user their own', async (t) => {
  const { dashboard, wind } = stoppedClock(t)
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    c.set('session', { userId: c.req.header('X-User') } as Session)
    await next()
  })
  app.use(throttleUser(dashboard, () => Promise.resolve(new Response(null, { status: 401 }))))
  app.get('/', (c) => c.text('a page'))
  const get = from(app)
  const ada = (cookie: string) => get('192.0.2.1', { 'X-User': 'ada', Cookie: cookie })
  for (let taken = 0; taken < BUDGETS.page.burst; taken += 1)
    assert.equal((await ada(taken % 2 === 0 ? 'one' : 'other')).status, 200)
  let isWaiting = true
  const waiting = ada('third').finally(() => {
    isWaiting = false
  })
  const bob = get('192.0.2.1', { 'X-User': 'bob', Cookie: 'bob' })
  assert.equal((await soon(bob))?.status, 200)
  assert.equal(isWaiting, true)
  wind()
  // Its session is read again, and there is none.
  assert.equal((await waiting).status, 401)
})

test('twenty writes beyond the budget wait and the rest are refused; waiting ones do nothing once the session has ended', async (t) => {
  const { signedIn, elapse, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const send = () => person.post('/dashboard/account/email', { email: 'x' })
  const startedAt = performance.now()
  for (let sent = 0; sent < BUDGETS.write.burst + 2; sent += 1)
    assert.equal((await send()).status, 422)
  const milliseconds = performance.now() - startedAt
  // Two more than the burst have to wait for new tokens.
  assert.ok(milliseconds > 2_000 / BUDGETS.write.perSecond - 50, `${milliseconds} ms`)

  const waiting = Array.from({ length: 7 }, (_, index) =>
    person.post('/dashboard/organizations', { name: 'guild', slug: `guild-${index}` }),
  )
  await Promise.race(waiting)
  await recordsOf(store).endSessions(user.id, operatorAt(presentInstant()))
  const answers = await Promise.all(waiting)
  const made = answers.filter(({ status }) => status === 303)
  assert.equal((await recordsOf(store).listOrganizations(user.id)).length, made.length)
  assert.ok(answers.some(({ status }) => status === 401))

  await person.signIn('ada@example.com', PASSWORD)
  const many = Array.from({ length: WAITING_MAX + 15 }, send)
  const { status, headers, body } = await Promise.race(
    many.map(async (one) => {
      const answer = await one
      return answer.status === 429 ? answer : new Promise<Answer>(() => {})
    }),
  )
  assert.deepEqual([status, headers['retry-after']], [429, '10'])
  assert.match(body, /This one changed nothing\. Wait 10 seconds/)
  elapse(60_000)
  for (const answer of await Promise.all(many)) assert.ok([422, 429].includes(answer.status))
})

/** Null if a promise waits, such as for a token that never comes. */
function soon<Value>(promise: Promise<Value>): Promise<Value | null> {
  return Promise.race([promise, delay(2_000, null)])
}

/** A dashboard whose clock stands still until the test winds it by a minute. It has no sessions. */
function stoppedClock(t: TestContext) {
  let now = 0
  const wind = () => {
    now += 60_000_000
  }
  // Requests that still wait end with the test.
  t.after(wind)
  const dashboard = {
    now: () => now,
    readAddress: (address: string) => address,
    accounts: { readSession: () => Promise.resolve(null) },
  } as unknown as Dashboard
  return { dashboard, wind }
}

/** Asks an app from a client address. */
function from(app: Hono<Env>) {
  return async (remoteAddress: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.request(
      '/',
      { method, headers },
      {
        incoming: { socket: { remoteAddress } },
        outgoing: { destroyed: false },
      },
    )
}
