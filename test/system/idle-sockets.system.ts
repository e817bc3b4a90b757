import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { programIn } from '../cli/program.ts'
import { ask } from '../fixtures/requests.ts'
import { holdIdleSockets, type IdleSockets } from './idle-sockets.ts'

/*
 * Thousands of connections that ask for nothing, or for it very slowly: who asks in good order hardly notices, and
 * they are ended soon.
 */

const SOCKETS = 2_000
/** What they may add to the slowest hundredth of the good answers. */
const SHIFT_MAX = 1.2
const ROUNDS = 5
const ROUND_MS = 800
/** In which the service takes the sockets, or lets go of them; what they cost is measured while they are there. */
const SETTLE_MS = 500
/** On a machine that does other things at the same time one comparison proves nothing. */
const COMPARISONS_MAX = 3

const ENDED_AFTER_MS = 11_000
/** What a machine may stand still. */
const STALL_MS = 3_000

test(`${SOCKETS} idle sockets hardly slow down who asks in good order`, async (t) => {
  const program = programIn(t)
  const { port } = await program.serve()
  await program.done('user add ada@example.com')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const idle = holdIdleSockets(t, port, SOCKETS)
  await slowestHundredth(port, key)
  const shifts: number[] = []
  do {
    const { without, beside } = await compare(idle, port, key)
    shifts.push(beside / without)
    t.diagnostic(`p99 ${without.toFixed(2)} ms, beside idle sockets ${beside.toFixed(2)} ms`)
  } while (shifts.at(-1)! > SHIFT_MAX && shifts.length < COMPARISONS_MAX)
  const times = shifts.map((shift) => shift.toFixed(2)).join(', ')
  assert.ok(shifts.at(-1)! <= SHIFT_MAX, `${times} times as slow`)
})

test(`${SOCKETS} idle sockets are ended within ${ENDED_AFTER_MS / 1_000} seconds`, async (t) => {
  const { port } = await programIn(t).serve()
  const idle = holdIdleSockets(t, port, SOCKETS)
  await idle.open()
  const endings = await idle.ended()
  assert.equal(endings.length, SOCKETS)
  assert.deepEqual([...new Set(endings.map(({ said }) => said))], ['HTTP/1.1 408 Request Timeout'])
  const last = Math.max(...endings.map(({ milliseconds }) => milliseconds))
  t.diagnostic(`the last after ${(last / 1_000).toFixed(2)} s`)
  assert.ok(last < ENDED_AFTER_MS + STALL_MS, `${last} ms`)
})

/**
 * The quietest of several rounds each, one kind after the other: what slows down every round is the sockets, what slows
 * down some is the machine.
 */
async function compare(
  idle: IdleSockets,
  port: number,
  key: string,
): Promise<{ without: number; beside: number }> {
  const without: number[] = []
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await delay(SETTLE_MS)
    without.push(await slowestHundredth(port, key))
    await idle.open()
    await delay(SETTLE_MS)
    beside.push(await slowestHundredth(port, key))
    await idle.drop()
  }
  return { without: Math.min(...without), beside: Math.min(...beside) }
}

/** The 99th percentile of the answers on a few connections, in milliseconds. */
async function slowestHundredth(port: number, key: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const times: number[] = []
  const until = performance.now() + ROUND_MS
  const client = async () => {
    while (performance.now() < until) {
      const since = performance.now()
      const { status } = await ask(port, { key, agent })
      times.push(performance.now() - since)
      assert.ok(status === 200 || status === 429, String(status))
    }
  }
  await Promise.all(Array.from({ length: 4 }, client))
  agent.destroy()
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)]!
}
