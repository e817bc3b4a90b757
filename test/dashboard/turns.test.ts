import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUDGETS, createTurns, type Turn, WAITING_MAX } from '../../src/dashboard/turns.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../fixtures/dashboard.ts'
import { type Answer, ask } from '../fixtures/requests.ts'

/*
 * One account that asks without pause gets its share, and no more. It is counted in memory, so on one engine.
 */

/** How long is hammered at least, how often by each loop, and by how many: more than may wait. */
const HAMMERED_MS = 1_000
const ASKED_MIN = 3
const LOOPS = WAITING_MAX + 20

test('one request of a person has its turn, twenty wait in their order, and the next one is refused', async () => {
  const turns = createTurns(() => 0)
  const ends: Turn[] = []
  const first = await turns.take('ada', 'page')
  assert.equal(first?.waited, false)
  const waiting = Array.from({ length: WAITING_MAX }, async () => {
    const turn = await turns.take('ada', 'page')
    ends.push(turn!)
    return turn
  })
  assert.equal(await turns.take('ada', 'page'), null)
  assert.equal((await turns.take('bob', 'page'))?.waited, false)
  assert.equal(ends.length, 0)
  first.end()
  for (const one of waiting) {
    const turn = await one
    assert.equal(turn?.waited, true)
    assert.equal(ends.at(-1), turn)
    turn.end()
  }
  assert.equal((await turns.take('ada', 'page'))?.waited, false)
})

test('who hammers pages, in however many sessions, gets the budget of one, and others and the API go on', async (t) => {
  const { signedIn, visitor, apiPort, faults } = await startDashboard(t, sqliteDatabase)
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

test('a page that anybody may see is given to one address so often, and to others all the same', async (t) => {
  const { visitor } = await startDashboard(t, sqliteDatabase, { trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => visitor().get('/sign-in', { 'X-Forwarded-For': address })
  const hammered = hammer(() => from('198.51.100.7'))
  assert.equal((await from('198.51.100.8')).status, 200)
  assertWithinBudget(await hammered)
})

test('of more writes than the budget twenty wait and the rest is refused; who waits does nothing once the session has ended', async (t) => {
  const { signedIn, elapse, store } = await startDashboard(t, sqliteDatabase)
  const { person, user } = await signedIn()
  const send = () => person.post('/dashboard/account/email', { email: 'x' })
  const startedAt = performance.now()
  for (let sent = 0; sent < BUDGETS.write.burst + 2; sent += 1)
    assert.equal((await send()).status, 422)
  const milliseconds = performance.now() - startedAt
  // Two more than the burst come of the time alone.
  assert.ok(milliseconds > 2_000 / BUDGETS.write.perSecond - 50, `${milliseconds} ms`)

  const waiting = Array.from({ length: 7 }, (_, index) =>
    person.post('/dashboard/organizations', { name: 'guild', slug: `guild-${index}` }),
  )
  await Promise.race(waiting)
  await store.endSessions(user.id)
  const answers = await Promise.all(waiting)
  const made = answers.filter(({ headers }) => String(headers.location).endsWith('?done=made'))
  assert.equal((await store.listOrganizations(user.id)).length, made.length)
  assert.ok(answers.some(({ headers }) => headers.location === '/sign-in'))

  await person.signIn('ada@example.com', PASSWORD)
  const many = Array.from({ length: WAITING_MAX + 15 }, send)
  const { status, headers, body } = await Promise.race(
    many.map(async (one) => {
      const answer = await one
      return answer.status === 429 ? answer : new Promise<Answer>(() => {})
    }),
  )
  assert.deepEqual([status, headers['retry-after']], [429, '10'])
  assert.match(body, /This request has changed nothing\. Wait for 10 seconds/)
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
