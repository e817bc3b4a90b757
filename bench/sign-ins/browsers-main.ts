import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { browserAt } from '../../test/fixtures/oidc/browser.ts'
import { exchange, personAt } from '../../test/fixtures/person.ts'
import { percentile } from '../load/schedule.ts'
import { LOW_PRIORITY, nameOf, PEOPLE, type SignedIn, type SignIns } from './browsers.ts'

/*
 * Browsers that sign in to the dashboard by the provider. Arguments: the dashboard's port and the
 * issuer. Each request to this process has a SignIns as JSON, and its answer is a SignedIn. People
 * keep their session at the provider, so only the first sign-in of each meets the provider's form.
 */

/** More would make a slow provider miss the 2 seconds that the service gives it. */
const UNDER_WAY_MAX = 10
const TICK_MS = 1

setPriority(LOW_PRIORITY)
const [port = '', issuer = ''] = process.argv.slice(2)
const browsers = Array.from({ length: PEOPLE }, () => browserAt(issuer))
const server = createServer((request, response) => void answer(request, response))
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const load = JSON.parse(await text(request)) as SignIns
  response.end(JSON.stringify(await run(load)))
}

async function run({ from, rate, seconds, ...load }: SignIns): Promise<SignedIn> {
  const startsAt = load.startsAt - performance.timeOrigin
  const countsFrom = startsAt + load.uncountedSeconds * 1_000
  const endsAt = startsAt + seconds * 1_000
  const ended: { at: number; latency: number }[] = []
  const failures: string[] = []

  async function time(number: number, dueAt: number): Promise<void> {
    try {
      await signIn(number)
      const at = performance.now()
      ended.push({ at, latency: at - dueAt })
    } catch (error) {
      const { message, cause } = error as Error
      failures.push(cause instanceof Error ? `${message}: ${cause.message}` : message)
    }
  }

  await delay(startsAt - performance.now())
  const underWay = new Set<Promise<void>>()
  for (let number = 0; number < rate * seconds && performance.now() < endsAt; ) {
    const dueAt = startsAt + (number * 1_000) / rate
    if (dueAt > performance.now()) {
      await delay(TICK_MS)
    } else if (underWay.size === UNDER_WAY_MAX) {
      await Promise.race(underWay)
    } else {
      const one = time(from + number, dueAt).finally(() => underWay.delete(one))
      underWay.add(one)
      number += 1
    }
  }
  await Promise.all(underWay)
  const counted = ended.filter(({ at }) => at >= countsFrom && at < endsAt)
  return {
    perSecond: counted.length / (seconds - load.uncountedSeconds),
    complete: ended.length,
    failed: failures.length,
    failure: failures[0] ?? null,
    p99: percentile(
      counted.map(({ latency }) => latency),
      0.99,
    ),
  }
}

/** The whole way: to the provider, back, and to the pages that need the session. */
async function signIn(number: number): Promise<void> {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const visitor = personAt(Number(port), new Map(), (to, method, path, headers, body) =>
    exchange(to, method, path, { ...headers, 'X-Forwarded-For': address }, body),
  )
  const left = await visitor.get('/sign-in/oidc')
  assert.equal(left.status, 303, left.body)
  const person = number % PEOPLE
  const back = await browsers[person]!.visit(String(left.headers.location), nameOf(person))
  const arrived = await visitor.get(back)
  assert.equal(arrived.status, 303, arrived.body)
  // Without a session, this leads to the sign-in page.
  const home = await visitor.get(String(arrived.headers.location))
  assert.equal(home.headers.location, '/dashboard/start', home.body)
  const page = await visitor.get('/dashboard/start')
  assert.equal(page.status, 200, page.body)
}
