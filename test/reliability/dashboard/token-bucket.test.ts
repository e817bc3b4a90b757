import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Admission,
  BUDGETS,
  createTokenBuckets,
  WAITING_MAX,
} from '../../../src/web/request/token-bucket.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { type Answer, ask } from '../../fixtures/requests.ts'
import { sessions } from '../../../src/accounts/records/sessions.ts'
import { organizations } from '../../../src/organizations/records/organizations.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'

/*
 * A client that sends requests without a pause gets its budget and no more.
 */

/**
 * The load: for at least this long, from more loops than may wait, each with a minimum of requests.
 */
const HAMMERED_MS = 1_000
const ASKED_MIN = 3
const LOOPS = WAITING_MAX + 20

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
  assert.equal((await Promise.race([again, delay(2_000, null)]))?.waited, false)
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

test('a user who floods pages from two sessions gets one budget; other users and the API go on', async (t) => {
  const { signedIn, visitor, apiPort, faults } = await startDashboard(t)
  const { person } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn('bob@example.com')
  const second = visitor()
  await second.signIn('ada@example.com', PASSWORD)
  const key = await bob.issue('bot')
  const hammered = hammer((loop) => (loop % 2 === 0 ? person : second).get('/dashboard/servers'))
  assert.equal((await bob.get('/dashboard/api')).status, 200)
  assert.equal((await ask(apiPort, { key })).status, 200)
  assertWithinBudget(await hammered)
  assert.deepEqual(faults, [])
})

test('pages without a session are throttled per client address', async (t) => {
  const { visitor } = await startDashboard(t, { trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => visitor().get('/sign-in', { 'X-Forwarded-For': address })
  const hammered = hammer(() => from('198.51.100.7'))
  assert.equal((await from('198.51.100.8')).status, 200)
  assertWithinBudget(await hammered)
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
  await sessions(store.database).endSessions(user.id, operatorAt(presentInstant()))
  const answers = await Promise.all(waiting)
  const made = answers.filter(({ status }) => status === 303)
  assert.equal((await organizations(store.database).listOrganizations(user.id)).length, made.length)
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

async function hammer(get: (loop: number) => Promise<Answer>) {
  const startedAt = performance.now()
  const until = startedAt + HAMMERED_MS
  const statuses: number[] = []
  await Promise.all(
    Array.from({ length: LOOPS }, async (_, loop) => {
      for (let asked = 0; asked < ASKED_MIN || performance.now() < until; asked += 1)
        statuses.push((await get(loop)).status)
    }),
  )
  return { statuses, seconds: (performance.now() - startedAt) / 1_000 }
}

function assertWithinBudget({ statuses, seconds }: { statuses: number[]; seconds: number }): void {
  const pages = statuses.filter((status) => status === 200).length
  const { perSecond, burst } = BUDGETS.page
  assert.ok(pages <= burst + seconds * perSecond + 1, `${pages} pages in ${seconds} s`)
  const refused = statuses.filter((status) => status === 429).length
  assert.equal(pages + refused, statuses.length)
}
