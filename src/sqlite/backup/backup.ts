import { existsSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { type BackupFacts, type Manifest, NotBackedUp } from '../../transfer/backup/backup.ts'
import { writeBackup } from '../../transfer/backup/files.ts'
import { closeDatabase, COMMAND_LOCK_WAIT_MS, openFile, retryWhileLocked } from '../database.ts'
import { isLocked } from '../errors.ts'
import { readFacts } from './facts.ts'

/** All pages in one step, one read transaction: a write between two steps starts a new copy. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies a database file while a process serves it, checks the copy, and gives it its name only
 * then. Throws NotBackedUp or NotConfigured.
 */
export async function backUpSqlite(
  path: string,
  target: string,
  program: string,
): Promise<Manifest> {
  if (existsSync(path) && existsSync(target) && realpathSync(path) === realpathSync(target))
    throw new NotBackedUp(
      `cannot back up to ${target}: it is the database itself; name another file`,
    )
  return writeBackup(target, program, async (partial) => {
    const source = openFile(path, false)
    try {
      await copyPages(source, partial)
    } finally {
      closeDatabase(source)
    }
    return checkCopy(partial)
  })
}

/** Copies all pages of `source` to the file, which may exist. The event loop goes on meanwhile. */
export async function copyPages(source: DatabaseSync, target: string): Promise<void> {
  if (!existsSync(target)) await (await open(target, 'wx', 0o600)).close()
  const copy = () => backup(source, target, { rate: ALL_PAGES })
  await retryWhileLocked(copy, COMMAND_LOCK_WAIT_MS, isLockedTarget)
}

/** Node.js reports a lock on the target as an error without a code. */
function isLockedTarget(error: unknown): boolean {
  return isLocked(error) || (error as { errcode?: number }).errcode === 0
}

/** Opens a copy, checks all of it, and leaves one file without a log. */
function checkCopy(path: string): BackupFacts {
  const copy = new DatabaseSync(path)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
    const problems = findProblems(copy)
    if (problems !== null)
      throw new NotBackedUp(
        `the database is damaged, so that no backup was made: ${problems}; keep the last good backup`,
      )
    return readFacts(copy)
  } finally {
    copy.close()
  }
}

/** What SQLite finds wrong with a database; null if nothing. */
export function findProblems(database: DatabaseSync): string | null {
  const found = database.prepare('PRAGMA integrity_check(3)').all()
  const texts = found.map((row) => String(Object.values(row)[0]))
  return texts.length === 1 && texts[0] === 'ok' ? null : texts.join('; ')
}
