import { join } from 'node:path'
import { programIn } from '../../../cli/program.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { type Ends, lastFirst } from './ends.ts'
import { SHORT_STAY, type Stay, withEffect } from '../faults/fault.ts'
import { processFaults, startFleet } from '../traffic/fleet.ts'
import { type Machine, makeMachine } from '../faults/machine.ts'
import type { Battlefield } from '../traffic/battlefield.ts'
import { startOtherProcess } from '../traffic/other-process.ts'
import {
  fileFaults,
  fileStaying,
  lockFile,
  machineFaults,
  measureSlowness,
} from '../faults/sqlite-faults.ts'
import { keepStamps, readStamps } from '../record/sqlite-record.ts'

const DISK_MEGABYTES = 16

/**
 * Puts the file on a disk of its own and gives the process a clock of its own. Both are among the
 * faults.
 */
export async function openSqliteMachine(t: Ends, stay: Stay): Promise<Battlefield> {
  const own = lastFirst(t)
  return openSqliteBattlefield(own, makeMachine(own, DISK_MEGABYTES), stay)
}

/**
 * Starts a process that serves a file, an operator beside it, and two processes that disturb it.
 */
export async function openSqliteBattlefield(
  t: Ends,
  machine: Machine | null = null,
  stay = SHORT_STAY,
): Promise<Battlefield> {
  const program = programIn(t)
  const path = join(machine?.disk.folder ?? temporaryFolder(t), 'listing.db')
  const url = `sqlite:${path}`
  const operator = await startOtherProcess(url)
  const [intruder, locker] = await Promise.all([startOtherProcess(url), startOtherProcess(url)])
  t.after(() => Promise.all([operator, intruder, locker].map((other) => other.close())))
  keepStamps(path)
  // With this, views keep the old name of a renamed table, so that they miss it.
  await intruder.execute('PRAGMA legacy_alter_table = ON')
  const fleet = await startFleet(program, [url], machine?.makeClock, stay)
  return {
    engine: 'sqlite',
    operator,
    port: fleet.port,
    groups: [
      {
        ...processFaults(fleet, false),
        // These faults don't overlap a start, because the service refuses a file without its
        // tables.
        ...fileFaults(intruder, await measureSlowness(intruder)),
        ...(machine === null ? {} : machineFaults(intruder, fleet, machine.disk, stay)),
      },
      withEffect({ failures: ['authentication'] }, { 'file locked': lockFile(locker, stay) }),
    ],
    staying: (ms) => fileStaying(path, locker, ms),
    readRecord: async ({ subjects }) => readStamps(path, subjects),
  }
}
