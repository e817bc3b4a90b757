import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ServerListingError, UnauthorizedError } from '../../client/src/index.ts'
import { fakeTime } from './fake-time.ts'
import { clientOf, startOddService } from './odd-service.ts'
import { startScene } from './scene.ts'

/*
 * What a program that watches learns of an outage.
 */

const MINUTE_MS = 60_000

test('watch reports each failed request with the age of the listing, and the recovery once', async (t) => {
  const { service, time, start } = await startScene(t)
  const other = new DatabaseSync(service.databasePath)
  t.after(() => other.close())
  const { reports, stop } = watch(t, start())
  await time.run(MINUTE_MS, 1)
  assert.deepEqual([...reports], ['1 servers'])

  const outageBegan = time.now
  other.exec('ALTER TABLE servers RENAME TO elsewhere')
  await time.run(10 * MINUTE_MS, 1)
  const failures = reports.slice(1) as { status: number; ageMs: number }[]
  assert.ok(failures.length >= 20, `${failures.length} failures`)
  for (const [index, { status, ageMs }] of failures.entries()) {
    assert.equal(status, 502)
    assert.ok(ageMs > (failures[index - 1]?.ageMs ?? 0), JSON.stringify(failures))
  }
  const last = failures.at(-1)!.ageMs
  assert.ok(last > 9 * MINUTE_MS && last <= time.now - outageBegan + 4_000, `${last} ms`)

  other.exec('ALTER TABLE elsewhere RENAME TO servers')
  await time.run(5 * MINUTE_MS, 1)
  // The listing is the same, so the loop does not run again.
  assert.deepEqual(reports.slice(1 + failures.length), ['recovered'])
  await stop()
})

test('the listing has no age before the first answer', async (t) => {
  const time = fakeTime(() => undefined)
  let requests = 0
  const baseUrl = await startOddService(t, (_, response) => {
    requests += 1
    if (requests < 3) response.writeHead(503).end()
    else response.end('{"servers":[]}')
  })
  const { reports, stop } = watch(t, clientOf(baseUrl, time.clock()))
  await time.run(MINUTE_MS, 1)
  const failed = { status: 503, ageMs: null }
  assert.deepEqual(reports, [failed, failed, 'recovered', '0 servers'])
  await stop()
})

test('watch throws what can never pass, and the last of its tries, without a report', async (t) => {
  let status = 401
  const baseUrl = await startOddService(t, (_, response) => response.writeHead(status).end())
  const time = fakeTime(() => undefined)
  const client = clientOf(baseUrl, time.clock())
  const failures: unknown[] = []
  const listings = () => client.watch({ maxTries: 3, onFailure: (error) => failures.push(error) })
  await assert.rejects(time.until(listings().next()), UnauthorizedError)
  assert.equal(failures.length, 0)
  status = 502
  const thrown = await time.until(
    listings()
      .next()
      .catch((error: unknown) => error),
  )
  assert.ok(thrown instanceof ServerListingError)
  assert.equal(failures.length, 2)
  assert.ok(!failures.includes(thrown))
})

/** Watches, and collects what the program learns. */
function watch(t: TestContext, client: ReturnType<typeof clientOf>) {
  const reports: unknown[] = []
  const stopped = new AbortController()
  const watching = (async () => {
    for await (const servers of client.watch({
      signal: stopped.signal,
      onFailure: ({ status }, ageMs) => reports.push({ status, ageMs }),
      onRecovery: () => reports.push('recovered'),
    }))
      reports.push(`${servers.length} servers`)
  })()
  const stop = async () => {
    stopped.abort(new Error('the test is over'))
    await assert.rejects(watching, /the test is over/)
  }
  t.after(() => stopped.abort())
  return { reports, stop }
}
