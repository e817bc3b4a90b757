import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'
import {
  counting,
  FAILING_CALLS,
  type FailingCall,
  type Injection,
  inject,
  LYING,
  limitSize,
  WRITES,
} from '../crash/failing-calls.ts'
import { createLedger, type Line } from '../crash/journal.ts'
import { type Role, startWriter } from '../crash/writer.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { type Random, randomFrom, seedOfRun } from '../../fixtures/random.ts'

/*
 * System calls fail on a SQLite file and its log while acts are done: one call, or all from one on.
 * The writer gets the error and continues with what it finds. In the end all acknowledged acts are
 * stored, and no act is stored in part.
 *
 *   FAILING_RUNS=100 node --test test/reliability/system/failing-calls.system.ts
 *
 * does 100 runs of each kind.
 */

const RUNS = Number(process.env.FAILING_RUNS ?? 7)
const ACTS = 8
const ROLES = ['service', 'command'] as const
const CONTROLS = 5
/**
 * After some writes of the first act. An engine that can't read its own writes would notice by
 * itself.
 */
const LIES_FROM = 20

/** What shows that a database lost something. Any other failure is one of the test. */
const LOSS =
  /differs from what was acknowledged|database disk image is malformed|file is not a database/

/** The number of runs in all tests whose writer got an error. */
let reported = 0

const SEED = seedOfRun()
const random = randomFrom(SEED)

const home = mkdtempSync(join(tmpdir(), 'server-listing-failing-'))
/** A small database, and the lines of its writer. */
const original = join(home, 'data')
let printed: Line[]

/** Makes calls fail for a file. `count` is how often the same writer makes a call undisturbed. */
type Inject = (
  path: string,
  count: (call: FailingCall) => Promise<number>,
) => Injection | Promise<Injection>

suite('system calls that fail', { concurrency: 2 }, () => {
  before(async () => {
    mkdirSync(original)
    printed = await startWriter(urlOf(original), 'service', drawSeed(random), ACTS).ended
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  for (const call of FAILING_CALLS) {
    const own = random.branch()
    test(`${call.name}: no acknowledged act is lost`, (t) =>
      disturb(t, own, async (path, count) => {
        const first = Math.ceil(own.between(0, await count(call)))
        return inject(path, call, own.chance(0.5) ? String(first) : `${first}+`)
      }))
  }

  const own = random.branch()
  test('a short write: no acknowledged act is lost', (t) =>
    disturb(t, own, async (path, count) => limitSize(path, own, await count(WRITES))))

  after(() => assert.ok(reported >= RUNS, `writers got an error in only ${reported} runs`))

  const ofControl = random.branch()
  test('the check notices a disk that reports writes and does nothing', async (t) => {
    for (let run = 0; run < CONTROLS; run += 1) {
      let injection: Injection | null = null
      const lie: Inject = (path) => {
        injection = inject(path, LYING, `${LIES_FROM}+`)
        return injection
      }
      await assert.rejects(tryOnce(t, ofControl, lie, ['command']), (error: Error) => {
        t.diagnostic(`SEED=${SEED}: ${error.message.slice(0, 100)}`)
        assert.match(error.message, LOSS)
        return true
      })
      assert.ok(injection!.injected() > 0, 'the disk dropped no write')
    }
  })
})

async function disturb(t: TestContext, own: Random, injecting: Inject): Promise<void> {
  const sum = { injected: 0, reported: 0, acknowledged: 0 }
  for (let run = 1; run <= RUNS; run += 1) {
    const { injected, reported, acknowledged } = await tryOnce(t, own, injecting).catch((error) => {
      throw new Error(`run ${run} of SEED=${SEED}: ${error.message}`, { cause: error })
    })
    sum.injected += injected > 0 ? 1 : 0
    sum.reported += reported > 0 ? 1 : 0
    sum.acknowledged += acknowledged
  }
  t.diagnostic(
    `SEED=${SEED}; ${RUNS} runs: calls failed in ${sum.injected}, ${sum.reported} reported a failure; ` +
      `${sum.acknowledged} acts were acknowledged, none was lost`,
  )
  assert.ok(sum.injected > RUNS / 2, `calls failed in only ${sum.injected} runs`)
  reported += sum.reported
  assert.ok(sum.acknowledged >= RUNS, `only ${sum.acknowledged} acts were acknowledged`)
}

/**
 * A writer with failing calls, and one without after it. Throws if an act is lost or stored in
 * part.
 */
async function tryOnce(
  t: TestContext,
  own: Random,
  injecting: Inject,
  roles: readonly Role[] = ROLES,
) {
  const folder = join(temporaryFolder(t), 'data')
  cpSync(original, folder, { recursive: true })
  const role = own.pick(roles)
  const seed = drawSeed(own)
  const { under, injected } = await injecting(pathIn(folder), (call) =>
    countCalls(t, role, seed, call),
  )
  const ledger = createLedger()
  for (const line of printed) ledger.take(line)
  const before = ledger.acknowledged
  const url = urlOf(folder)
  const lines = await startWriter(url, role, seed, ACTS, { under, goesOn: true }).ended
  for (const line of lines) ledger.take(line)
  for (const line of await startWriter(url, role, drawSeed(own), 1).ended) {
    assert.notEqual(line.line, 'failed', JSON.stringify(line))
    ledger.take(line)
  }
  return {
    injected: injected(),
    reported: lines.filter(({ line }) => line === 'failed').length,
    acknowledged: ledger.acknowledged - before,
  }
}

/** How often a writer makes a call in acts that are drawn with this seed. */
async function countCalls(
  t: TestContext,
  role: Role,
  seed: number,
  call: FailingCall,
): Promise<number> {
  const folder = join(temporaryFolder(t), 'data')
  cpSync(original, folder, { recursive: true })
  const { under, count } = counting(pathIn(folder))
  await startWriter(urlOf(folder), role, seed, ACTS, { under }).ended
  return count(call)
}

function pathIn(folder: string): string {
  return join(folder, 'listing.db')
}

function urlOf(folder: string): string {
  return `sqlite:${pathIn(folder)}`
}

function drawSeed(own: Random): number {
  return Math.floor(own.between(0, 2 ** 31))
}
