import { setTimeout as delay } from 'node:timers/promises'
import { programIn } from '../cli/program.ts'
import { startFleet } from './fleet.ts'
import type { Battlefield, Fault } from './nemesis.ts'
import { type OtherProcess, startOtherProcess } from './other-process.ts'
import { keepStamps, readStamps } from './sqlite-record.ts'

const TRIES_MAX = 20

/** One process that serves a file, an operator's beside it, and two that get in their way. */
export async function openSqliteBattlefield(t: {
  after(end: () => unknown): void
}): Promise<Battlefield> {
  const program = programIn(t)
  const path = program.databasePath
  const url = `sqlite:${path}`
  const operator = await startOtherProcess(url)
  const [intruder, locker] = await Promise.all([startOtherProcess(url), startOtherProcess(url)])
  t.after(() => {
    for (const other of [operator, intruder, locker]) other.close()
  })
  keepStamps(path)
  // Views keep naming the table as it was called, so that it is missed.
  await intruder.execute('PRAGMA legacy_alter_table = ON')
  const fleet = await startFleet(program, [url])
  return {
    engine: 'sqlite',
    operator,
    port: fleet.port,
    groups: [
      {
        'process killed': fleet.kill,
        'process stopped': fleet.pause,
        // Not while a process starts: a file without its tables is not ours to serve.
        'servers missing': missing(intruder, 'servers'),
        'keys missing': missing(intruder, 'api_keys'),
      },
      { 'file locked': lockFile(locker) },
    ],
    readRecord: async ({ subjects }) => readStamps(path, subjects),
  }
}

function missing(intruder: OtherProcess, table: string): Fault {
  return async (random) => {
    await insist(() => intruder.execute(`ALTER TABLE ${table} RENAME TO elsewhere`))
    await delay(random.between(30, 400))
    await insist(() => intruder.execute(`ALTER TABLE elsewhere RENAME TO ${table}`))
  }
}

/** The writer's lock, for longer than a request waits for it, too. */
function lockFile(locker: OtherProcess): Fault {
  return async (random) => {
    await insist(() => locker.execute('BEGIN IMMEDIATE'))
    await delay(random.between(5, 1_300))
    await locker.execute('ROLLBACK')
  }
}

/** The file may be in somebody else's hands for a while. */
async function insist(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await delay(20)
    }
  }
}
