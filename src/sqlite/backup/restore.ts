import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  NotRestored,
  type PreparedRestore,
  type Restored,
  type RestorePlan,
} from '../../transfer/backup/backup.ts'
import { checkBackup } from '../../transfer/backup/files.ts'
import { CLAIM_INTERVAL_US } from '../../listing/api-key.ts'
import { formatInstant, presentInstant } from '../../listing/instant.ts'
import { closeDatabase, openFile, transact } from '../database.ts'
import { unusable } from '../errors.ts'
import { createDatabaseFile } from '../file/create-file.ts'
import { takeServingLock } from '../file/serving-lock.ts'
import { migrate } from '../migrate.ts'
import { copyPages, findProblems } from './backup.ts'
import { journalOf, readJournals } from './journal.ts'
import { readFacts } from './facts.ts'
import { applyRevocations, readRemoved, readRevocations } from './revocations.ts'

/** A process that stops may hold the lock for a moment. */
const STOP_WAIT_MS = 1_000

/**
 * Prepares to replace the database file by a backup, and changes nothing yet. From here on no
 * process can serve the file. `journals` are further journals of revocations, beside the one of the
 * file. Throws NotRestored, NotConfigured or AlreadyServed.
 */
export async function prepareRestore(
  path: string,
  from: string,
  journals: readonly string[],
): Promise<PreparedRestore> {
  for (const each of journals)
    if (!existsSync(each))
      throw new NotRestored(`cannot restore: there is no journal of revocations ${each}`)
  const madeAt = await checkBackup(from)
  if (existsSync(path) && realpathSync(path) === realpathSync(from))
    throw new NotRestored(`cannot restore ${from}: it is the database itself`)
  const isNew = !existsSync(path)
  createDatabaseFile(path)
  const journal = journalOf(path)
  const temporary = `${realpathSync(path)}.restoring-${process.pid}`
  const opened: (() => void)[] = [() => isNew && removeIfEmpty(path)]
  const close = () => {
    for (const each of opened.splice(0).toReversed()) each()
  }
  try {
    const lock = await takeServingLock(path, STOP_WAIT_MS)
    opened.push(() => lock.release())
    const lockedAt = performance.now()
    opened.push(() => removeFiles(temporary))
    createDatabaseFile(temporary, path)
    const copy = await openCopy(from, temporary)
    opened.push(() => closeDatabase(copy))
    const backup = readFacts(copy)
    migrate(copy)
    const { present, unreadable } = isNew ? NOTHING : openPresent(path)
    if (present !== null) opened.push(() => closeDatabase(present))
    const carryOver = () => revoke(copy, present, [journal, ...journals])
    const plan: RestorePlan = {
      backup,
      present: present === null ? null : readFacts(present),
      unreadable,
      revoked: carryOver(),
    }
    transact(copy, () => {
      copy.exec(
        `DELETE FROM sessions; DELETE FROM sign_in_links; DELETE FROM secrets WHERE name = 'setup'`,
      )
      // The copy knows only of the backup before.
      if (madeAt !== null)
        copy.prepare('INSERT OR REPLACE INTO last_backup VALUES (1, ?)').run(madeAt)
    })

    const apply = async (): Promise<Restored> => {
      const kept = isNew ? null : await keep(path, present)
      const meanwhile = carryOver()
      if (present !== null) closeDatabase(present)
      createDatabaseFile(path)
      await copyPages(copy, path)
      // A command may have revoked a key in the file while it was replaced.
      const restored = openFile(path, false)
      const late = applyRevocations(restored, readJournals([journal]))
      closeDatabase(restored)
      // The uses of the last second are not in the backup. Until it is over, no process may serve.
      await delay(Math.max(0, lockedAt + CLAIM_INTERVAL_US / 1_000 - performance.now()))
      return { ...plan, revoked: plan.revoked + meanwhile + late, kept }
    }
    return { plan, apply, close: async () => close() }
  } catch (error) {
    close()
    throw error
  }
}

/** A checked copy of the backup beside the database. The copy is changed, the backup is not. */
async function openCopy(from: string, temporary: string): Promise<DatabaseSync> {
  try {
    const source = new DatabaseSync(from, { readOnly: true })
    try {
      if (!isOurs(source))
        throw new NotRestored(`cannot restore ${from}: it is no backup of this service`)
      await copyPages(source, temporary)
    } finally {
      source.close()
    }
    const copy = openFile(temporary, false)
    const problems = findProblems(copy)
    if (problems === null) return copy
    copy.close()
    throw new NotRestored(`cannot restore ${from}: it is damaged: ${problems}; use another backup`)
  } catch (error) {
    if (error instanceof NotRestored) throw error
    const reason = unusable(from, error)?.message ?? (error as Error).message
    throw new NotRestored(`cannot restore ${from}: ${reason}`, { cause: error })
  }
}

function isOurs(database: DatabaseSync): boolean {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'`)
  return tables.get() !== undefined
}

interface Replaced {
  present: DatabaseSync | null
  unreadable: string | null
}

/** An empty file is no database either. */
const NOTHING: Replaced = { present: null, unreadable: null }

/** The database that is replaced, or why it can't be read. */
function openPresent(path: string): Replaced {
  if (statSync(path).size === 0) return NOTHING
  let database: DatabaseSync | null = null
  try {
    database = openFile(path, false)
    readFacts(database)
    readRevocations(database)
    return { present: database, unreadable: null }
  } catch (error) {
    if (database !== null) closeDatabase(database)
    const reason = (unusable(path, error) ?? (error as Error)).message
    return { present: null, unreadable: reason }
  }
}

function revoke(
  copy: DatabaseSync,
  present: DatabaseSync | null,
  journals: readonly string[],
): number {
  const known = applyRevocations(copy, readJournals(journals))
  if (present === null) return known
  const removed = readRemoved(copy, present, presentInstant())
  return known + applyRevocations(copy, readRevocations(present)) + applyRevocations(copy, removed)
}

/** Keeps the replaced database beside the new one. One that can't be read is moved away. */
async function keep(path: string, present: DatabaseSync | null): Promise<string> {
  const stamp = formatInstant(presentInstant()).slice(0, 19).replaceAll(':', '')
  const kept = `${realpathSync(path)}.before-restore-${stamp}Z`
  if (present !== null) {
    createDatabaseFile(kept, path)
    await copyPages(present, kept)
    return kept
  }
  const real = realpathSync(path)
  for (const end of ['', '-wal', '-shm'])
    if (existsSync(`${real}${end}`)) await rename(`${real}${end}`, `${kept}${end}`)
  return kept
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true })
}

function removeIfEmpty(path: string): void {
  if (existsSync(path) && statSync(path).size === 0) removeFiles(path)
}
