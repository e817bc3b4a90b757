import { lstatSync, mkdtempSync, readdirSync, rmSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Finding, warning } from '../model/health/finding.ts'
import { countOf } from '../model/text.ts'

/*
 * A killed command can't clean up. The names of its temporary files have the number of its process,
 * so that a later command can. A number says nothing of processes in other containers, so that what
 * is left also has to be old.
 */

const OLD_MS = 3_600_000

/** In containers, several commands may have one number. */
export const partialOf = (place: string): string =>
  `${place}.partial-${process.pid}-${crypto.randomUUID().slice(0, 8)}`

const PARTIAL = /^(.+)\.partial-(\d+)(?:-[\da-f]{8})?(?:-journal|-wal|-shm)?$/
/** The name of an archive in a folder, or of one that a restore keeps. */
const STAMPED = /(?:^server-listing|\.before-restore)-\d{8}T\d{9,12}Z$/

export const nameNow = (): string => `server-listing-${stampNow()}`
/** Beside a file: the archive of what a restore replaces. */
export const keptBeside = (path: string): string => `${path}.before-restore-${stampNow()}`

const stampNow = (): string => new Date().toISOString().replaceAll(/[-:.]/g, '')

/**
 * Removes old partial archives from the folder of a file: those with its name, and those whose name
 * no later command uses again.
 */
export function removePartials(place: string): void {
  const pidOf = (name: string) => {
    const [, begin = '', pid] = PARTIAL.exec(name) ?? []
    return begin === basename(place) || STAMPED.test(begin) ? pid : undefined
  }
  removeOld(dirname(place), pidOf, (stats) => stats.isFile())
}

/** Names the archives of restores beside a database file, also one of a killed restore. */
export function inspectKept(path: string): Finding[] {
  const isKept = (name: string) =>
    name.startsWith(`${basename(path)}.before-restore-`) && STAMPED.test(name)
  const kept = readdirSync(dirname(path)).filter(isKept).toSorted()
  if (kept.length === 0) return []
  return [
    warning(
      'replaced',
      `restores have left ${countOf(kept.length, 'archive')} of the rows before them beside the ` +
        `database, last ${join(dirname(path), kept.at(-1)!)}`,
      'delete each that you no longer need. To go back, restore one',
    ),
  ]
}

/** Removes a partial archive of this process. */
export function removePartial(partial: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) attempt(() => remove(`${partial}${end}`))
}

/** A folder for temporary files, which its process removes. */
export function makeTemporaryFolder(): string {
  removeOld(
    tmpdir(),
    (name) => /^server-listing-(\d+)-\w{6}$/.exec(name)?.[1],
    (stats) => stats.isDirectory() && stats.uid === process.getuid?.(),
  )
  return mkdtempSync(join(tmpdir(), `server-listing-${process.pid}-`))
}

function removeOld(
  folder: string,
  pidOf: (name: string) => string | undefined,
  isOurs: (stats: Stats) => boolean,
): void {
  attempt(() => {
    for (const name of readdirSync(folder)) {
      const pid = pidOf(name)
      if (pid === undefined || isOther(Number(pid))) continue
      attempt(() => {
        const path = join(folder, name)
        const stats = lstatSync(path)
        if (isOurs(stats) && stats.mtimeMs < Date.now() - OLD_MS) remove(path)
      })
    }
  })
}

const remove = (path: string): void => rmSync(path, { force: true, recursive: true })

/** What can't be removed stays. It must neither stop a command nor hide why one has failed. */
function attempt(act: () => void): void {
  try {
    act()
  } catch {}
}

/** Whether a process with this number runs here, and is not this one. */
function isOther(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
