import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { conform, findingsOf, planOf } from '../src/conform.ts'
import { REQUESTS_PER_SECOND } from '../src/pace.ts'
import { readTarget } from '../src/wire/target.ts'
import { serveByHono } from './implementation/hono.ts'
import { createModel } from './implementation/model.ts'
import { revokeOn } from './implementation/revoke.ts'

/*
 * A host that belongs to another operator gets at most two requests per second.
 */

test('a foreign host gets at most two requests per second in a complete run', async (t) => {
  const model = createModel(null)
  const [key, second] = model.keys
  const { port, arrivals } = await countRequests(t, await serveByHono(t, model))
  const order = {
    // The loopback address stands for a foreign one.
    target: { ...readTarget(`http://127.0.0.1:${port}`)!, isLocal: false },
    key,
    second,
    revokeCommand: await revokeOn(t, () => model.revoke(key)),
    isMine: false,
  }
  const report = await conform(order)
  assert.deepEqual(findingsOf(report), [])
  assert.deepEqual(report.unchecked, [])
  assert.equal(arrivals.length, report.requests)
  const plan = planOf(order)
  t.diagnostic(`${arrivals.length} requests of ${plan.requests} in ${report.seconds} s`)
  assert.ok(report.requests >= plan.requests)

  // A machine that stands still delays arrivals, so a few of them may be closer to each other.
  const worst = arrivals.slice(2).map((at, index) => at - arrivals[index]!)
  const close = worst.filter((apart) => apart < 1_000)
  t.diagnostic(`${close.length} times three requests within ${Math.min(...worst)} ms`)
  const least = ((arrivals.length - REQUESTS_PER_SECOND) / REQUESTS_PER_SECOND) * 1_000
  assert.ok(arrivals.at(-1)! - arrivals[0]! >= least)
  assert.ok(close.length <= arrivals.length / 20, `${close.length} times`)
})

/** Passes bytes on, and notes when each request arrived, in milliseconds. */
async function countRequests(t: TestContext, upstream: number) {
  const arrivals: number[] = []
  const server = createServer((socket) => {
    const behind = connect(upstream, '127.0.0.1')
    socket.on('data', (bytes: Buffer) => {
      // Each of the kit's requests, and each of its odd texts, comes in one piece of its own.
      const requests =
        bytes.toString('latin1').split('GET /v1/servers HTTP/1.1\r\nHost:').length - 1
      for (let index = 0; index < Math.max(1, requests); index += 1)
        arrivals.push(performance.now())
      behind.write(bytes)
    })
    socket.on('end', () => behind.end())
    socket.on('error', () => behind.destroy())
    socket.on('close', () => behind.destroy())
    behind.on('data', (bytes) => socket.write(bytes))
    behind.on('end', () => socket.end())
    behind.on('error', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, arrivals }
}
