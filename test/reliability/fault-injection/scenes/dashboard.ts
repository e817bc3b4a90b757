import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenDatabase } from '../../../fixtures/dashboard.ts'
import type { Answer } from '../../../fixtures/requests.ts'
import { openStage, type Stage } from '../../../records/stage.ts'
import { type Operation, sweep } from '../sweep.ts'
import type { Disturbance, Trap } from '../trap.ts'
import { type Visit, visitsOf } from './visits.ts'

/** Every second visit happens this much later, when the user's request budget has refilled. */
const REST_MS = 20_000

/** All inputs of the dashboard, with a fault at each of their calls to the database in turn. */
export function disturbedVisits<D extends Disturbance>(
  open: OpenDatabase,
  trap: Trap<D>,
  disturbances: Record<Visit['kind'], readonly D[]>,
): void {
  test('dashboard: a failed call shows an honest page, and no form is done in part', async (t) => {
    const stage = await openStage(t, 'scene', open)
    const written = t.mock.method(console, 'error')
    const all = Map.groupBy(await visitsOf(stage, (file) => file !== 'setup'), ({ kind }) => kind)
    for (const [kind, visits] of all)
      for (const disturbance of disturbances[kind]) {
        const startedAt = performance.now()
        const calls = await disturb(stage, visits, disturbance)
        const took = Math.round(performance.now() - startedAt)
        t.diagnostic(`${visits.length} visits, ${calls} calls ${disturbance.name}: ${took} ms`)
      }
    assert.equal(written.mock.callCount(), 0, 'something was written outside the log')
  })

  test('dashboard: a failed call leaves no setup of an installation done in part', async (t) => {
    const stage = await openStage(t, 'setup', open)
    const written = t.mock.method(console, 'error')
    const visits = await visitsOf(stage, (file) => file === 'setup')
    for (const disturbance of disturbances.password) await disturb(stage, visits, disturbance)
    assert.equal(written.mock.callCount(), 0, 'something was written outside the log')
  })

  async function disturb(stage: Stage, visits: readonly Visit[], disturbance: D): Promise<number> {
    let calls = 0
    for (const visit of visits) {
      const operation = { ...operationOf(stage, visit), audited: visit.entries }
      calls += await sweep(operation, stage.tables, trap, disturbance)
    }
    return calls
  }
}

export function operationOf({ dashboard }: Stage, visit: Visit): Operation<Answer> {
  const { name, status, repeated, isInParts, isBetween, following } = visit
  let isRested = false
  return {
    name,
    isInParts,
    ...(isBetween === undefined ? {} : { isBetween }),
    following,
    async run() {
      isRested = !isRested
      const ahead = isRested ? REST_MS : 0
      dashboard.elapse(ahead)
      return visit.visit().finally(() => dashboard.elapse(-ahead))
    },
    isDone: (answer) => answer.status === status,
    isRepetition: (answer) => answer.status === repeated,
    assertHonest(answer) {
      assert.equal(answer.status, 503, `${name}: ${answer.body}`)
      assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'; /)
      assert.equal(answer.headers['retry-after'], '5')
      const main = /<main.*<\/main>/s.exec(answer.body)?.[0] ?? ''
      assert.match(main, /<h1>Something went wrong<\/h1>/)
      assert.doesNotMatch(main, /Error|SQLITE|disk|database|connect|\.[jt]s\b|\n +at /)
    },
  }
}
