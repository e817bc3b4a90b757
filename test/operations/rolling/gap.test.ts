import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { addAdaWithKeys } from '../../cli/ada.ts'
import { programIn } from '../../cli/program.ts'
import { ask } from '../../fixtures/requests.ts'
import { freeFixedPort } from '../../fixtures/daemon/daemon.ts'

/** How often a client tries to reach the service. */
const TRY_MS = 5
const RESTARTS = 5

test('on SQLite a restart has a gap, which is printed, and loses no claim', async (t) => {
  const program = programIn(t)
  const keys = await addAdaWithKeys(program, RESTARTS)
  const env = { PORT: String(await freeFixedPort()) }
  const port = Number(env.PORT)
  let served = await program.serve({ env })
  const gaps: number[] = []
  for (const { key } of keys) {
    const before = performance.now()
    assert.equal((await ask(port, { key })).status, 200)
    let isBack = false
    const client = untilServedAgain(port, () => isBack)
    served.kill('SIGTERM')
    assert.equal((await served.ended).code, 0)
    served = await program.serve({ env })
    isBack = true
    gaps.push(await client)
    const { status } = await ask(port, { key })
    const isWithinSecond = performance.now() - before < 1_000
    assert.ok(status === 429 || (status === 200 && !isWithinSecond), `a key got ${status}`)
  }
  const middle = gaps.toSorted((a, b) => a - b)[Math.floor(RESTARTS / 2)]!
  t.diagnostic(`gap of a restart on SQLite: ${Math.round(middle)} ms, the median of ${RESTARTS}`)
})

/** The time in milliseconds in which new connections were refused. */
async function untilServedAgain(port: number, isBack: () => boolean): Promise<number> {
  let lastServed = performance.now()
  let wasRefused = false
  for (;;) {
    const hadReturned = isBack()
    const isServed = await ask(port, { path: '/health' }).then(
      ({ status }) => status === 200,
      () => false,
    )
    const present = performance.now()
    if (isServed && (wasRefused || hadReturned)) return present - lastServed
    if (isServed) lastServed = present
    else wasRefused = true
    await delay(TRY_MS)
  }
}
