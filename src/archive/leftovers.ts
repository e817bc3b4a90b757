import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/*
 * A killed command can't clean up. The names of its temporary files have the number of its process,
 * so that the next command can.
 */

export const partialOf = (place: string): string => `${place}.partial-${process.pid}`

const PARTIAL = /^(.+)\.partial-(\d+)(?:-journal|-wal|-shm)?$/
/** The name of an archive in a folder, or of one that a restore keeps. */
const STAMPED = /(?:^server-listing|\.before-restore)-\d{8}T\d{9,12}Z$/

/**
 * Removes partial archives from the folder of a file: those with its name, and those whose name no
 * later command uses again. In a container, each command may have the number of this process.
 */
export function removePartials(place: string): void {
  removeFrom(dirname(place), (name) => {
    const [, begin = '', pid] = PARTIAL.exec(name) ?? []
    return (
      (begin === basename(place) || STAMPED.test(begin)) &&
      (Number(pid) === process.pid || !isRunning(Number(pid)))
    )
  })
}

/** A folder for temporary files, which its process removes. */
export function makeTemporaryFolder(): string {
  removeFrom(tmpdir(), (name) => {
    const pid = /^server-listing-(\d+)-\w{6}$/.exec(name)?.[1]
    return pid !== undefined && !isRunning(Number(pid))
  })
  return mkdtempSync(join(tmpdir(), `server-listing-${process.pid}-`))
}

/** What another user's process has left stays. */
function removeFrom(folder: string, isLeftover: (name: string) => boolean): void {
  for (const name of readdirSync(folder).filter(isLeftover))
    try {
      rmSync(join(folder, name), { force: true, recursive: true })
    } catch {}
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
