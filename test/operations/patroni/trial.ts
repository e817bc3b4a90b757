import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { seedOfRun } from '../../fixtures/random.ts'
import { floorsMissed } from '../../reliability/history/floors.ts'
import { runNemesis } from '../../reliability/history/nemesis.ts'
import type { History } from '../../reliability/history/record/record.ts'
import { reportOn } from '../../reliability/history/report/report.ts'
import { openFailovers, SERVING_AGAIN_MS, WAYS } from './battlefield.ts'

/**
 * Kills the primary under load for some seconds. The checker knows nothing of Patroni. It accepts a
 * 502 from the death of the primary until the service must serve again, and no double 200 and no
 * revoked key at any time.
 */
export async function tryFailovers(
  t: TestContext,
  seconds: number,
  options: { isPatient?: boolean } = {},
): Promise<void> {
  const seed = seedOfRun()
  const { battlefield, promotions } = await openFailovers(t, options)
  const done = await runNemesis(battlefield, { seed, ms: seconds * 1_000, pauseMs: 1_000 })
  const { summary, violation } = reportOn(battlefield.engine, seed, done)
  t.diagnostic(summary)
  assert.equal(violation, null, violation ?? '')
  assert.deepEqual(floorsMissed(done), [])
  for (const [index, way] of WAYS.entries()) {
    const waits = promotions.map((at) => firstGranted(done.history, index + 1, at) - at)
    t.diagnostic(
      `through ${way}, first 200 after a promotion: ${waits.map(milliseconds).join(', ')}`,
    )
    const late = waits.filter(
      (wait, nth) =>
        wait > SERVING_AGAIN_MS * 1_000 && !hasStalled(done.history, promotions[nth]!, wait),
    )
    assert.deepEqual(late, [])
  }
}

/** When the process with this number answered its first 200 after an instant. */
function firstGranted({ operations }: History, process: number, at: number): number {
  const granted = operations.filter(
    (one) => one.operation === 'get' && one.status === 200 && one.process === process,
  )
  return Math.min(...granted.map(({ t1 }) => t1).filter((t1) => t1 > at))
}

function hasStalled({ incidents }: History, at: number, wait: number): boolean {
  return incidents!.some(
    ({ fault, t0, t1 }) => fault === 'machine stood still' && t0 < at + wait && t1 > at,
  )
}

function milliseconds(microseconds: number): string {
  return `${Math.round(microseconds / 1_000)} ms`
}
