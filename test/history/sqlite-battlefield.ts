import { join } from 'node:path'
import { programIn } from '../cli/program.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { type Ends, lastFirst } from './ends.ts'
import { startFleet } from './fleet.ts'
import { type Machine, makeMachine } from './machine.ts'
import type { Battlefield } from './nemesis.ts'
import { startOtherProcess } from './other-process.ts'
import { fileFaults, lockFile, machineFaults, measureSlowness } from './sqlite-faults.ts'
import { keepStamps, readStamps } from './sqlite-record.ts'

const DISK_MEGABYTES = 16

/** The same on a disk of its own, and with a clock of its own, which are among the faults. */
export async function openSqliteMachine(t: Ends): Promise<Battlefield> {
  const own = lastFirst(t)
  return openSqliteBattlefield(own, makeMachine(own, DISK_MEGABYTES))
}

/** One process that serves a file, an operator's beside it, and two that get in their way. */
export async function openSqliteBattlefield(
  t: Ends,
  machine: Machine | null = null,
): Promise<Battlefield> {
  const program = programIn(t)
  const path = join(machine?.disk.folder ?? temporaryFolder(t), 'listing.db')
  const url = `sqlite:${path}`
  const operator = await startOtherProcess(url)
  const [intruder, locker] = await Promise.all([startOtherProcess(url), startOtherProcess(url)])
  t.after(() => {
    for (const other of [operator, intruder, locker]) other.close()
  })
  keepStamps(path)
  // Views keep naming the table as it was called, so that it is missed.
  await intruder.execute('PRAGMA legacy_alter_table = ON')
  const fleet = await startFleet(program, [url], machine?.makeClock)
  return {
    engine: 'sqlite',
    operator,
    port: fleet.port,
    groups: [
      {
        'process killed': fleet.kill,
        'process stopped': fleet.pause,
        // Not while a process starts: a file without its tables is not ours to serve.
        ...fileFaults(intruder, await measureSlowness(intruder)),
        ...(machine === null ? {} : machineFaults(intruder, fleet, machine.disk)),
      },
      { 'file locked': lockFile(locker) },
    ],
    readRecord: async ({ subjects }) => readStamps(path, subjects),
  }
}
