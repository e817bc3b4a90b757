import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { floorsMissed } from '../../reliability/history/floors.ts'
import { runNemesis } from '../../reliability/history/nemesis.ts'
import { reportOn } from '../../reliability/history/report/report.ts'
import { openRolling } from './battlefield.ts'

const RESTARTS = Number(process.env.RESTARTS ?? 4)
/** One restart with its draining, without the pause before the next one. */
const RESTART_MS = 4_000

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test(`${RESTARTS} rolling restarts behind HAProxy fail no request`, async (t) => {
  const seed = seedOfRun()
  const programs = Array(RESTARTS + 1).fill(programIn(t))
  const { battlefield } = await openRolling(t, server, programs)
  const done = await runNemesis(battlefield, { seed, ms: RESTARTS * RESTART_MS, pauseMs: 300 })
  const { summary, violation } = reportOn(battlefield.engine, seed, done)
  t.diagnostic(summary)
  assert.equal(violation, null, violation ?? '')
  assert.deepEqual(floorsMissed(done), [])
})
