import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUDGETS, WAITING_MAX } from '../../src/dashboard/turns.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import { ask } from '../fixtures/requests.ts'

/*
 * One account that asks without pause gets its share, and no more. It is counted in memory, so on one engine.
 */

/** How long is hammered at least, how often by each loop, and by how many: more than may wait. */
const HAMMERED_MS = 1_000
const ASKED_MIN = 3
const LOOPS = WAITING_MAX + 20

test('who hammers pages, in however many sessions, gets the budget of one, and others and the API go on', async (t) => {
  const { signedIn, visitor, apiPort, faults } = await startDashboard(t, sqliteDatabase)
  const { person } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn('bob@example.com')
  const second = visitor()
  await second.signIn('ada@example.com', PASSWORD)
  const key = await bob.issue('bot')

  const startedAt = performance.now()
  const until = startedAt + HAMMERED_MS
  const statuses: number[] = []
  const hammer = async (from: Person) => {
    for (let asked = 0; asked < ASKED_MIN || performance.now() < until; asked += 1) {
      const { status, headers } = await from.get('/dashboard/servers')
      statuses.push(status)
      if (status === 429) assert.equal(headers['retry-after'], '2')
    }
  }
  const loops = Array.from({ length: LOOPS }, (_, index) =>
    hammer(index % 2 === 0 ? person : second),
  )
  assert.equal((await bob.get('/dashboard/api')).status, 200)
  assert.equal((await ask(apiPort, { key })).status, 200)
  await Promise.all(loops)
  const seconds = (performance.now() - startedAt) / 1_000
  const pages = statuses.filter((status) => status === 200).length
  const { perSecond, burst } = BUDGETS.page
  assert.ok(pages <= burst + seconds * perSecond + 1, `${pages} pages in ${seconds} s`)
  const refused = statuses.filter((status) => status === 429).length
  assert.equal(pages + refused, statuses.length)
  // Each of the loops that found no room to wait was held for a second at a time.
  assert.ok(refused > 0 && refused <= LOOPS * (seconds + 1), `${refused} refused in ${seconds} s`)
  assert.deepEqual(faults, [])
})

test('of more writes than the budget the rest wait, and do nothing if the session ends meanwhile', async (t) => {
  const { signedIn, store } = await startDashboard(t, sqliteDatabase)
  const { person, user } = await signedIn()
  const send = () => person.post('/dashboard/account/email', { email: 'x' })
  const startedAt = performance.now()
  for (let sent = 0; sent < BUDGETS.write.burst + 2; sent += 1)
    assert.equal((await send()).status, 422)
  const milliseconds = performance.now() - startedAt
  // Two more than the burst come of the time alone.
  assert.ok(milliseconds > 2_000 / BUDGETS.write.perSecond - 50, `${milliseconds} ms`)

  // Who signs out everywhere stops what is still waiting.
  const waiting = Array.from({ length: 7 }, (_, index) =>
    person.post('/dashboard/api', { form: `f${index}`, name: 'bot' }),
  )
  await Promise.race(waiting)
  await store.endSessions(user.id)
  const answers = await Promise.all(waiting)
  const issued = answers.filter(({ status }) => status === 200).length
  assert.equal((await store.listApiKeys(user.id)).length, issued)
  const left = answers.map(({ status, headers }) => [status, headers.location])
  assert.ok(
    answers.some(({ headers }) => headers.location === '/sign-in'),
    JSON.stringify(left),
  )
})

test('a page that anybody may see is given to one address so often, and to others all the same', async (t) => {
  const { visitor } = await startDashboard(t, sqliteDatabase, { trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => visitor().get('/sign-in', { 'X-Forwarded-For': address })
  const answers = await Promise.all(
    Array.from({ length: BUDGETS.page.burst + 2 * WAITING_MAX }, () => from('198.51.100.7')),
  )
  assert.ok(answers.some(({ status }) => status === 429))
  assert.equal((await from('198.51.100.8')).status, 200)
})
