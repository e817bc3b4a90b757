import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { checkAll } from '../history/check/check.ts'
import { floorsMissed } from '../history/floors.ts'
import { runNemesis } from '../history/nemesis.ts'
import { reportOn } from '../history/report/report.ts'
import { openClusters } from './battlefield.ts'
import { moveSafely, moveWithoutStopping } from './move.ts'

/*
 * Owners are split over four PostgreSQL servers with a service each. Two routers pass requests on
 * by a directory. docs/scale.md describes the routers and the steps of a move.
 */

const CLUSTERS = 4
/** On a busy machine too few requests meet a move, so the trial is repeated until one does. */
const TRIAL_MAX_MS = 60_000

let servers: Cluster[] = []
before(async () => {
  servers = await Promise.all(Array.from({ length: CLUSTERS }, () => startCluster()))
})
after(() => Promise.all(servers.map((server) => server.remove())))

test('owners move between four clusters under faults, and no promise breaks', async (t) => {
  const seed = seedOfRun()
  const battlefield = await openClusters(t, servers, moveSafely)
  const done = await runNemesis(battlefield, { seed, ms: 10_000, pauseMs: 300 })
  const { summary, violation } = reportOn(battlefield.engine, seed, done)
  t.diagnostic(summary)
  assert.equal(violation, null, violation ?? '')
  assert.deepEqual(floorsMissed(done), [])
})

test('the checker finds a move that starts an owner here before it stops there', async (t) => {
  let seen: string[] = []
  const until = performance.now() + TRIAL_MAX_MS
  for (let seed = 5; !seen.some(isDouble) && performance.now() < until; seed += 1) {
    const battlefield = await openClusters(t, servers, moveWithoutStopping)
    const [onlyMoves] = battlefield.groups
    const groups = [onlyMoves!]
    const { history } = await runNemesis(
      { ...battlefield, groups },
      { seed, ms: 6_500, pauseMs: 200 },
    )
    seen = checkAll(history).map(({ invariant }) => invariant)
  }
  t.diagnostic(`violations: ${seen.toSorted().join(', ')}`)
  assert.ok(seen.some(isDouble), `found only ${seen.join(', ')}`)
})

/** Two 200s within a second, by the answers or by the store's record. */
function isDouble(invariant: string): boolean {
  return invariant === 'I1' || invariant === 'I7'
}
