import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { readLines } from '../../../src/sqlite/journal/journal.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { type Changes, readDatabase } from '../model/content.ts'
import { afterPowerLoss, type Disk } from '../crash/disk.ts'
import { createLedger, type Line } from '../crash/journal.ts'
import { type Event, readTrace, STRACE } from '../crash/trace.ts'
import { PROGRAM, type Role } from '../crash/writer.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { randomFrom, seedOfRun } from '../../fixtures/random.ts'

/*
 * The power fails. The test records a process's changes to its files. For many moments it builds
 * the files that a disk would have then: without unsynchronized changes, or with some of them. The
 * service must start on these files, the database must be sound, and all acknowledged acts must be
 * stored. Claims may be lost: when the machine has rebooted their second is over.
 */

const run = promisify(execFile)
const ACTS = 100
const MOMENTS = 150
/** What shows that acknowledged work was lost. Any other problem is one of the test. */
const LOSS =
  /differs from what was acknowledged|database disk image is malformed|file is not a database/

test('all that was acknowledged before a power failure is stored', async (t) => {
  const seed = seedOfRun()
  const events = await record(t, 'busy', ACTS, seed)
  const random = randomFrom(seed)
  const syncs = events.filter(({ event }) => event === 'sync').length
  const checkpoints = events.filter(
    (event) => event.event === 'sync' && event.file === 'listing.db',
  ).length
  t.diagnostic(
    `SEED=${seed}; ${events.length} operations on files, ${syncs} of them synchronize, ${checkpoints} the database file`,
  )
  const acknowledged = events.filter(
    (event) => event.event === 'printed' && (JSON.parse(event.text) as Line).line === 'done',
  ).length
  assert.equal(acknowledged, ACTS)
  // Opening and closing the store take two. The others happen while it serves.
  assert.ok(syncs >= ACTS && checkpoints > 3, `${syncs} and ${checkpoints}`)
  for (const loss of ['all', 'some'] as const) {
    const moments = drawMoments(events, random.between)
    const lossy = moments.filter((moment) => losesSomething(events.slice(0, moment))).length
    assert.ok(lossy > MOMENTS / 3, `only ${lossy} power failures lost a write`)
    for (const moment of moments) {
      const disk = afterPowerLoss(events.slice(0, moment), loss, random)
      const problem = await problemAfter(t, disk, events.slice(0, moment))
      const when = `${loss} of it lost after operation ${moment} of seed ${seed}`
      assert.equal(problem, null, when)
      // The database has them, too. An older copy of it would not.
      assert.deepEqual(notJournaled(disk, events.slice(0, moment)), [], when)
    }
    t.diagnostic(
      `${moments.length} losses of power, of ${loss} that was not synchronized, ${lossy} of which lost a write: nothing acknowledged is lost`,
    )
  }
})

for (const role of ['careless', 'reckless'] as const)
  test(`the check notices synchronous = ${role === 'careless' ? 'NORMAL' : 'OFF'} (${role})`, async (t) => {
    const seed = seedOfRun()
    t.diagnostic(`SEED=${seed}`)
    const events = await record(t, role, 15, seed)
    const random = randomFrom(seed)
    const problems: string[] = []
    for (const moment of drawMoments(events, random.between).slice(0, 30)) {
      const disk = afterPowerLoss(events.slice(0, moment), 'all', random)
      const problem = await problemAfter(t, disk, events.slice(0, moment))
      if (problem !== null) problems.push(problem)
    }
    assert.notEqual(problems.length, 0)
    for (const problem of problems) assert.match(problem, LOSS)
    t.diagnostic(`${problems.length} of 30, as: ${problems[0]!.slice(0, 100)}`)
  })

/** Records a writer that does this many acts. */
async function record(t: TestContext, role: Role, acts: number, seed: number): Promise<Event[]> {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'data'))
  const path = join(folder, 'data', 'listing.db')
  const output = join(folder, 'trace')
  const program = [process.execPath, PROGRAM, `sqlite:${path}`, role, String(acts), String(seed)]
  await run('strace', [...STRACE, `--output=${output}`, ...program], { maxBuffer: 2 ** 30 })
  return readTrace(readFileSync(output, 'latin1'), path)
}

/** Half of them directly after a printed line, when most is promised. */
function drawMoments(
  events: readonly Event[],
  between: (from: number, to: number) => number,
): number[] {
  const printed = events.flatMap(({ event }, index) => (event === 'printed' ? [index + 1] : []))
  return Array.from({ length: MOMENTS }, (_, n) =>
    n % 2 === 0
      ? printed[Math.floor(between(0, printed.length))]!
      : Math.floor(between(0, events.length + 1)),
  )
}

/** True if a write to the database or its log had not been synchronized when the power failed. */
function losesSomething(events: readonly Event[]): boolean {
  const written = new Set<string>()
  for (const event of events) {
    if (event.event === 'write' && /^listing\.db(-wal)?$/.test(event.file)) written.add(event.file)
    if (event.event === 'sync') written.delete(event.file)
  }
  return written.size > 0
}

/** The hashes of keys whose revocation was acknowledged, and which the remaining journal lacks. */
function notJournaled(disk: Disk, events: readonly Event[]): string[] {
  const { revoked } = readLines(disk.get('listing.db-revoked')?.toString('latin1') ?? '')
  let begun: Changes = {}
  const hashes = events.flatMap((event) => {
    if (event.event !== 'printed') return []
    const line = JSON.parse(event.text) as Line
    if (line.line === 'begun') begun = line.changes
    if (line.line !== 'done') return []
    return Object.entries(begun.keys ?? {}).flatMap(([hash, key]) => (key?.revokedAt ? [hash] : []))
  })
  return hashes.filter((hash) => !revoked.has(hash))
}

/** Starts the service on the remaining files and compares; null if all is well. */
async function problemAfter(
  t: TestContext,
  disk: Disk,
  events: readonly Event[],
): Promise<string | null> {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  for (const [name, bytes] of disk) writeFileSync(join(folder, name), bytes)
  const ledger = createLedger()
  for (const event of events)
    if (event.event === 'printed') ledger.take(JSON.parse(event.text) as Line)
  try {
    const store = await openServingSqliteStore(path)
    try {
      ledger.compare({ ...(await readDatabase(`sqlite:${path}`)), lastUses: null })
      return null
    } finally {
      await store.close()
    }
  } catch (error) {
    return String(error)
  }
}
