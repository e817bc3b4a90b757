import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { chmod, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type BackupFacts, type Manifest, NotBackedUp } from '../../transfer/backup.ts'
import { NotConfigured } from '../../listing/faults.ts'
import { formatInstant, presentInstant } from '../../listing/instant.ts'
import { closeDatabase, COMMAND_LOCK_WAIT_MS, openFile } from '../database.ts'
import { codeOf, isLocked } from '../errors.ts'
import { syncFolder } from './journal.ts'
import { hashFile, readFacts, writeManifest } from './manifest.ts'

/** All pages in one step, one read transaction: a write between two steps starts a new copy. */
const ALL_PAGES = 2 ** 31 - 1
const LOCK_RETRY_MS = 20

/**
 * Copies a database file to another while a process serves it, checks the copy, and gives it its
 * name only then. An existing file there is replaced. Throws NotBackedUp.
 */
export async function backUpSqlite(
  path: string,
  target: string,
  program: string,
): Promise<Manifest> {
  assertOther(path, target)
  await removePartials(target)
  const partial = `${target}.partial-${process.pid}`
  try {
    const source = openFile(path, false)
    try {
      await copyPages(source, partial)
    } finally {
      closeDatabase(source)
    }
    const manifest = {
      program,
      made_at: formatInstant(presentInstant()),
      ...checkCopy(partial),
      bytes: statSync(partial).size,
      sha256: await hashFile(partial),
    }
    await moveInto(partial, target)
    await writeManifest(target, manifest)
    await syncFolder(dirname(target))
    return manifest
  } catch (error) {
    rmSync(partial, { force: true })
    throw sentenceFor(error, target)
  }
}

function assertOther(path: string, target: string): void {
  if (!existsSync(dirname(target)))
    throw new NotBackedUp(`cannot back up to ${target}: there is no folder ${dirname(target)}`)
  if (!existsSync(path) || !existsSync(target)) return
  if (realpathSync(path) === realpathSync(target))
    throw new NotBackedUp(
      `cannot back up to ${target}: it is the database itself; name another file`,
    )
}

/** Copies all pages of `source` to the file, which may exist. The event loop goes on meanwhile. */
export async function copyPages(source: DatabaseSync, target: string): Promise<void> {
  if (!existsSync(target)) await (await open(target, 'wx', 0o600)).close()
  const until = performance.now() + COMMAND_LOCK_WAIT_MS
  for (;;) {
    try {
      await backup(source, target, { rate: ALL_PAGES })
      return
    } catch (error) {
      if (!isLockedTarget(error) || performance.now() > until) throw error
    }
    await delay(LOCK_RETRY_MS)
  }
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

/** Gives a file that is on the disk its name. The manifest of an earlier file goes first. */
async function moveInto(partial: string, target: string): Promise<void> {
  await chmod(partial, 0o600)
  const file = await open(partial, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  await rm(`${target}.json`, { force: true })
  await rename(partial, target)
}

/** What a backup that was killed has left. */
async function removePartials(target: string): Promise<void> {
  const begins = ['', '.json'].map((end) => `${basename(target)}${end}.partial-`)
  for (const name of await readdir(dirname(target))) {
    const begin = begins.find((each) => name.startsWith(each))
    if (begin !== undefined && !isRunning(Number.parseInt(name.slice(begin.length), 10)))
      await rm(join(dirname(target), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

const FULL = 13

function sentenceFor(error: unknown, target: string): unknown {
  if (error instanceof NotBackedUp || error instanceof NotConfigured) return error
  if (isLocked(error))
    return new NotBackedUp(`cannot back up to ${target}: another program has it open`)
  const isFull = codeOf(error) === 'ENOSPC' || (error as { errcode?: number }).errcode === FULL
  const reason = isFull ? 'the disk is full' : (error as Error).message
  return new NotBackedUp(`cannot back up to ${target}: ${reason}; there is no new backup`)
}
