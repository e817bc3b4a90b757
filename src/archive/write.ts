import { rename } from 'node:fs/promises'
import { constants, existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isFull } from '../sqlite/errors.ts'
import { syncFolder, withFile } from '../sqlite/file/synced.ts'
import { type BackedUp, NotBackedUp } from './archive.ts'
import { findProblems, readArchiveFacts } from './facts.ts'
import { partialOf, removePartial, removePartials } from './leftovers.ts'
import { findBrokenRows } from './rules/judge.ts'

const { O_CREAT, O_EXCL, O_WRONLY } = constants

/**
 * Has `fill` make the SQLite file of an archive, checks the file, and gives it its name once the
 * disk has it. Removes what killed processes have left. Throws NotBackedUp for an error that is no
 * sentence yet. After any error, an earlier archive is as it was.
 */
export async function writeArchive(
  target: string,
  fill: (partial: string) => Promise<void>,
): Promise<BackedUp> {
  const place = placeOf(target)
  const partial = partialOf(place)
  try {
    removePartials(place)
    await withFile(partial, O_WRONLY | O_CREAT | O_EXCL, async () => {})
    await fill(partial)
    const facts = checkArchive(partial)
    // Systems may refuse to sync a file that is open only to read.
    await withFile(partial, O_WRONLY, (file) => file.sync())
    await rename(partial, place)
    await syncFolder(dirname(place)).catch((error: Error) => {
      throw new NotBackedUp(
        `the archive ${target} is complete, but a loss of power could undo its name: ${error.message}`,
      )
    })
    return facts
  } catch (error) {
    removePartial(partial)
    throw sentenceFor(error, target)
  }
}

/** The file itself, so that a link to it stays a link. */
function placeOf(target: string): string {
  if (!existsSync(dirname(target)))
    throw new NotBackedUp(`cannot back up to ${target}: there is no folder ${dirname(target)}`)
  if (!existsSync(target)) return target
  if (!statSync(target).isFile())
    throw new NotBackedUp(`cannot back up to ${target}: it is no regular file; name another one`)
  return realpathSync(target)
}

/** Leaves one file, which a medium that is read-only can hold. */
function checkArchive(path: string): BackedUp {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = DELETE')
    const problems = findProblems(database)
    if (problems !== null)
      throw new NotBackedUp(
        `the database is damaged, so that no backup was made: ${problems}; keep the last good backup`,
      )
    return { ...readArchiveFacts(database), broken: findBrokenRows(database), is_partial: false }
  } finally {
    database.close()
  }
}

/** Errors of this program are sentences already. Those of Node.js and SQLite are called Error. */
function sentenceFor(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || !error.name.endsWith('Error')) return error
  const reason = isFull(error) ? 'the disk is full' : error.message
  return new NotBackedUp(`cannot back up to ${target}: ${reason}; there is no new backup`, {
    cause: error,
  })
}
