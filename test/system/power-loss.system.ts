import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { readDatabase } from '../crash/content.ts'
import { afterPowerLoss, type Disk } from '../crash/disk.ts'
import { createLedger, type Line } from '../crash/journal.ts'
import { type Event, readTrace, STRACE } from '../crash/trace.ts'
import { PROGRAM, type Role } from '../crash/writer.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { freshSeed, randomFrom } from '../history/random.ts'

/*
 * The power fails. What a process did to its files is recorded, and for many moments the files are made as a disk would
 * have them if it had failed then: without what was not synchronized, or with a part of that. The service starts on
 * them, the database is sound, and whatever had been acknowledged is there. Uses alone may be lost: until a machine has
 * started again their second is over.
 */

const run = promisify(execFile)
const ACTS = 100
const MOMENTS = 150

test('whatever was acknowledged before a loss of power is there', async (t) => {
  const events = await record(t, 'service', ACTS)
  const seed = freshSeed()
  const random = randomFrom(seed)
  const syncs = events.filter(({ event }) => event === 'sync').length
  const checkpoints = events.filter(
    (event) => event.event === 'sync' && event.file === 'listing.db',
  ).length
  t.diagnostic(
    `seed ${seed}; ${events.length} operations on files, ${syncs} of them synchronize, ${checkpoints} the database file`,
  )
  for (const loss of ['all', 'some'] as const) {
    const moments = drawMoments(events, random.between)
    for (const moment of moments) {
      const disk = afterPowerLoss(events.slice(0, moment), loss, random)
      const problem = await problemAfter(t, disk, events.slice(0, moment))
      assert.equal(problem, null, `${loss} of it lost after operation ${moment} of seed ${seed}`)
    }
    t.diagnostic(
      `${moments.length} losses of power, of ${loss} that was not synchronized: nothing acknowledged is lost`,
    )
  }
})

for (const role of ['careless', 'reckless'] as const)
  test(`it is seen where the connection is ${role}: synchronous = ${role === 'careless' ? 'NORMAL' : 'OFF'}`, async (t) => {
    const events = await record(t, role, 15)
    const random = randomFrom(freshSeed())
    const problems: string[] = []
    for (const moment of drawMoments(events, random.between).slice(0, 30)) {
      const disk = afterPowerLoss(events.slice(0, moment), 'all', random)
      const problem = await problemAfter(t, disk, events.slice(0, moment))
      if (problem !== null) problems.push(problem)
    }
    assert.notEqual(problems.length, 0)
    t.diagnostic(`${problems.length} of 30, as: ${problems[0]!.slice(0, 100)}`)
  })

/** What a writer of so many acts does. */
async function record(t: TestContext, role: Role, acts: number): Promise<Event[]> {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'data'))
  const path = join(folder, 'data', 'listing.db')
  const output = join(folder, 'trace')
  const program = [process.execPath, PROGRAM, `sqlite:${path}`, role, String(acts)]
  await run('strace', [...STRACE, `--output=${output}`, ...program], { maxBuffer: 2 ** 30 })
  return readTrace(readFileSync(output, 'latin1'), path)
}

/** Half of them right after something was said, which is when most is promised. */
function drawMoments(
  events: readonly Event[],
  between: (from: number, to: number) => number,
): number[] {
  const said = events.flatMap(({ event }, index) => (event === 'said' ? [index + 1] : []))
  return Array.from({ length: MOMENTS }, (_, n) =>
    n % 2 === 0
      ? said[Math.floor(between(0, said.length))]!
      : Math.floor(between(0, events.length + 1)),
  )
}

/** Starts the service on what is left, and compares; null if all is well. */
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
    if (event.event === 'said') ledger.take(JSON.parse(event.text) as Line)
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
