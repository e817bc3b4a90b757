import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import {
  type InstalledProgram,
  installedProgramIn,
  programIn,
  type Served,
} from '../../cli/program.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { lastFirst } from '../history/battlefield/ends.ts'
import { type Commit, withEffect } from '../history/faults/fault.ts'
import { floorsMissed } from '../history/floors.ts'
import { runNemesis } from '../history/nemesis.ts'
import { keepStamps, readStamps } from '../history/record/postgres-record.ts'
import { now, type Operation } from '../history/record/record.ts'
import { reportOn } from '../history/report/report.ts'
import type { Battlefield } from '../history/traffic/battlefield.ts'
import { startOtherProcess } from '../history/traffic/other-process.ts'
import type { Operator } from '../history/traffic/scene.ts'
import { installKept } from './installed.ts'
import { keptPackages } from './kept.ts'

/*
 * While an operator upgrades on PostgreSQL, processes of both versions serve one database. Here the
 * kept package of each release and the working tree do that, under load on the same keys. Then only
 * the tree goes on. test/operations/rolling/upgrade.test.ts restarts both behind HAProxy.
 */

/** The numbers of the processes in the record. */
const OLD = [1, 2]
const NEW = [3, 4]
const RUN_MS = 8_000
/** When the old processes may end. */
const BESIDE_MS = 4_500

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

for (const release of keptPackages())
  test(`${release.version} and this program serve one database side by side`, async (t) => {
    const old = installedProgramIn(t, installKept(t, release))
    const { battlefield, did } = await openBoth(t, old)
    const seed = seedOfRun()
    const done = await runNemesis(battlefield, { seed, ms: RUN_MS, pauseMs: 300 })
    const { summary, violation } = reportOn(`${release.version} beside this tree`, seed, done)
    t.diagnostic(summary)
    assert.equal(violation, null, violation ?? '')
    assert.deepEqual(floorsMissed(done), [])
    for (const [what, times] of Object.entries(did)) assert.ok(times > 0, `never happened: ${what}`)

    const { operations, incidents } = done.history
    assertSharedKeys(operations)
    const end = Math.max(...incidents!.map(({ t1 }) => t1))
    const later = operations.filter(({ t0, status }) => t0 > end && status === 200)
    const granted = later.filter(({ operation }) => operation === 'get')
    assert.ok(granted.length >= 10, `only ${granted.length} claims after the old processes`)
    for (const { process } of granted) assert.ok(NEW.includes(process))
  })

/** Most keys got claims from both versions, so the checker has compared them. */
function assertSharedKeys(operations: readonly Operation[]): void {
  const claims = operations.filter(({ operation, status }) => operation === 'get' && status === 200)
  const keysOf = (processes: readonly number[]) =>
    new Set(claims.filter(({ process }) => processes.includes(process)).map(({ key }) => key))
  const ofNew = keysOf(NEW)
  const shared = [...keysOf(OLD)].filter((key) => ofNew.has(key))
  assert.ok(shared.length >= 5, `only ${shared.length} keys got claims from both versions`)
}

/** How often the programs did what the other one must respect. */
type Did = Record<string, number>

/**
 * The old program makes the schema and serves; this one updates the schema meanwhile, and serves
 * beside it. Keys are issued and revoked with both.
 */
async function openBoth(
  t: TestContext,
  old: InstalledProgram,
): Promise<{ battlefield: Battlefield; did: Did }> {
  const own = lastFirst(t)
  const url = await createDatabase(server)
  const env = { DATABASE_URL: url, DRAIN_SECONDS: '1' }
  await old.done('migrate', { env })
  const oldOnes = await Promise.all(OLD.map(() => old.serve({ env })))
  const present = programIn(t)
  await present.done('migrate', { env })
  const operator = await startOtherProcess(url)
  own.after(() => operator.close())
  const offsets = await keepStamps(url)
  const newOnes = await Promise.all(NEW.map(() => present.serve({ env })))
  const listening = new Map([...oldOnes, ...newOnes].map((served, index) => [index + 1, served]))
  const from = now() + BESIDE_MS * 1_000

  /** The balancer sends no more requests to the old processes, and they end. */
  const end: Commit = async () => {
    if (now() < from || !listening.has(OLD[0]!)) return null
    for (const number of OLD) listening.delete(number)
    await Promise.all(oldOnes.map(endOf))
    return {}
  }
  const did: Did = {}
  return {
    did,
    battlefield: {
      engine: 'postgres',
      operator: withBoth(operator, old, env, did),
      port: (random) => {
        const [process, served] = random.pick([...listening])
        return { port: served.port, process }
      },
      groups: [withEffect({ failures: ['no answer'] }, { 'old processes end': end })],
      staying: () => ({}),
      readRecord: (scene) => readStamps(url, scene, offsets),
    },
  }
}

async function endOf(served: Served): Promise<void> {
  served.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.equal(code, 0, stderr)
}

/** Issues and revokes keys with the old commands and with the present code, in turn. */
function withBoth(
  operator: Operator,
  old: InstalledProgram,
  env: Record<string, string>,
  did: Did,
): Operator {
  const emails = new Map<string, string>()
  let turns = 0
  /** Does the act in turn, and counts it if it succeeds. */
  async function inTurn<T>(act: string, byOld: () => Promise<T>, byNew: () => Promise<T>) {
    turns += 1
    const isOld = turns % 3 === 0
    const result = await (isOld ? byOld() : byNew())
    did[`${act} ${isOld ? 'old' : 'new'}`]! += 1
    return result
  }
  for (const act of ['issued by', 'revoked by']) did[`${act} old`] = did[`${act} new`] = 0
  return {
    ...operator,
    async insertUser(user, by) {
      emails.set(user.id, user.email!)
      return operator.insertUser(user, by)
    },
    issueKey(userId, name) {
      const words = ['key', 'issue', '--user', emails.get(userId)!, '--name', name, '--json']
      const byOld = async () => JSON.parse(await old.done(words, { env }))
      return inTurn('issued by', byOld, () => operator.issueKey(userId, name))
    },
    revokeApiKey(userId, id, by) {
      async function byOld() {
        const keys = await operator.listApiKeys(userId)
        await old.done(['key', 'revoke', '--user', emails.get(userId)!, id], { env })
        return keys.find((key) => key.id === id) ?? null
      }
      return inTurn('revoked by', byOld, () => operator.revokeApiKey(userId, id, by))
    },
  }
}
