import { existsSync, realpathSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import type { Revocations } from '../model/key-hash.ts'
import { type Instant, presentInstant } from '../model/instant.ts'
import {
  closeDatabase,
  COMMAND_LOCK_WAIT_MS,
  openFile,
  retryWhileLocked,
  transact,
} from '../sqlite/database.ts'
import { isLocked } from '../sqlite/errors.ts'
import { journalOf, readJournal } from '../sqlite/journal/journal.ts'
import { listHashes } from '../sqlite/journal/mirror.ts'
import { migrate } from '../sqlite/migrate.ts'
import { isNewer } from '../sqlite/schema.ts'
import { type BackedUp, CLAIMS, ENDED, NotBackedUp } from './archive.ts'
import { dropParts, findForeign } from './foreign.ts'
import { removePartials } from './leftovers.ts'
import { findMissing, findUnreadable } from './rules/judge.ts'
import { isUse, lastUses } from './unite.ts'
import { writeArchive } from './write.ts'

/**
 * Writes an archive of a database file, also while a process serves it. Throws NotBackedUp or
 * NotConfigured.
 */
export async function backUpSqlite(path: string, target: string): Promise<BackedUp> {
  if (existsSync(path) && existsSync(target) && realpathSync(path) === realpathSync(target))
    throw new NotBackedUp(
      `cannot back up to ${target}: it is the database itself; name another file`,
    )
  const source = openFile(path, false)
  // A killed restore keeps beside the database what it replaces.
  removePartials(realpathSync(path))
  try {
    return await writeArchive(target, async (partial) => {
      const madeAt = presentInstant()
      await copyPages(source, partial)
      // The command names damaged lines where it restores, or opens the database to record this.
      reduceToArchive(
        partial,
        madeAt,
        readJournal(journalOf(path), () => {}),
      )
    })
  } finally {
    closeDatabase(source)
  }
}

/** All pages in one step, one read transaction: a write between two steps starts a new copy. */
const ALL_PAGES = 2 ** 31 - 1

/** Copies all pages to a file. The event loop goes on meanwhile. */
export async function copyPages(source: DatabaseSync, target: string): Promise<void> {
  const copy = () => backup(source, target, { rate: ALL_PAGES })
  await retryWhileLocked(copy, COMMAND_LOCK_WAIT_MS, isLockedTarget)
}

/** Node.js reports a lock on the target as an error without a code. */
function isLockedTarget(error: unknown): boolean {
  return isLocked(error) || (error as { errcode?: number }).errcode === 0
}

/** Tables of which an archive has no rows. */
export const CLEARED = [...ENDED, 'boots', 'removed_claims'] as const
/** Their last uses move to `older_claims`. Other rows stay, so that the rules name them. */
const MOVED = CLAIMS.filter(({ name }) => name !== 'older_claims')

/** Makes a copy of all pages an archive, in the present schema. */
function reduceToArchive(path: string, madeAt: Instant, revocations: Revocations): void {
  const copy = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    // A sync follows when the archive is whole. Deleted tokens must not remain in free pages.
    copy.exec(`
      PRAGMA journal_mode = DELETE;
      PRAGMA synchronous = OFF;
      PRAGMA secure_delete = ON`)
    assertReadable(findUnreadable(copy))
    migrate(copy)
    assertReadable(findMissing(copy))
    // What a newer server-listing has added looks foreign here, and that version needs it.
    const keepsForeign = isNewer(copy)
    const hasForeign = transact(copy, () => {
      // Another program's tables are no part of an archive, which either engine can restore.
      const foreign = findForeign(copy).filter(({ type }) => !keepsForeign || type === 'trigger')
      const makeForeign = dropParts(copy, foreign)
      copy.exec(`
        INSERT OR REPLACE INTO older_claims ${lastUses('main')};
        ${CLEARED.map((table) => `DELETE FROM ${table};`).join('\n')}
        ${MOVED.map((table) => `DELETE FROM ${table.name} WHERE ${isUse(table)};`).join('\n')}`)
      listHashes(copy, revocations)
      copy.prepare('INSERT OR REPLACE INTO last_backup VALUES (1, ?)').run(madeAt)
      if (keepsForeign) makeForeign()
      return foreign.length > 0
    })
    // Their pages would be a part of the archive.
    if (hasForeign) copy.exec('VACUUM')
  } finally {
    copy.close()
  }
}

function assertReadable(complaint: string | null): void {
  if (complaint !== null) throw new NotBackedUp(`the database cannot be backed up: ${complaint}`)
}
