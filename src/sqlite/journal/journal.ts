import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { type FileHandle, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { revocationLine } from '../../model/key-format.ts'
import type { Revocations } from '../../model/key-hash.ts'
import { NotConfigured, NotJournaled } from '../../model/faults.ts'
import { type Instant, parseInstant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { codeOf } from '../errors.ts'
import { isRoot } from '../file/create-file.ts'
import { syncFolder, withFile } from '../file/synced.ts'

const LINE = /^([\dTZ:.-]+) key ([\da-fA-F]{64})$/
/** What a crash may leave of a line, without zeros in place of a part. */
const PART = /^[\dTZ:.-]+( k?e?y?( [\da-fA-F]{0,63})?)?$/

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
/** The open of a pipe would wait for its other end. */
const OPEN = O_NOFOLLOW | O_NONBLOCK

const JOURNAL = '-revoked'

/**
 * The append-only journal of revocations beside a database file. It outlives the file: an older
 * copy of the file knows nothing of the keys that were revoked later.
 */
export function journalOf(databasePath: string): string {
  return `${realpathSync(databasePath)}${JOURNAL}`
}

/** The lines that may list a further key, counted from 1. */
interface Unread {
  first: number
  count: number
}

/**
 * Reads the lines of a journal, or of a copy of one. A crash cuts off a line whose append never
 * returned, so that line lists no key. It lacks its own line break: it is the last line, or the
 * next append begins directly below it, without the blank line between two appends.
 */
export function readLines(text: string): { revoked: Map<string, Instant>; unread: Unread } {
  const revoked = new Map<string, Instant>()
  const unread = { first: 0, count: 0 }
  /** The line breaks since the last line. */
  let breaks = 1
  /** The number of the last line if it is a part of one, or 0. */
  let part = 0
  /** Whether the last line begins where an append does. */
  let isAppended = false
  let number = 1
  const leaveOut = (at: number) => {
    unread.first ||= at
    unread.count += 1
  }
  // A crash may leave zeros, too. An array of all lines could be many times as large as the text.
  for (const [line] of text.replaceAll('\0', '').matchAll(/\r\n?|\n|[^\r\n]+/g)) {
    if (/[\r\n]/.test(line)) {
      number += 1
      breaks += 1
      continue
    }
    const isBelowCut: boolean = part > 0 && isAppended && breaks === 1
    if (part > 0 && !isBelowCut) leaveOut(part)
    isAppended = isBelowCut || breaks > 1
    breaks = 0
    part = 0
    const [, instant = '', hash = ''] = LINE.exec(line) ?? []
    const at = parseInstant(instant)
    if (at !== null) {
      if (!revoked.has(hash.toLowerCase())) revoked.set(hash.toLowerCase(), at)
    } else if (PART.test(line)) part = number
    else leaveOut(number)
  }
  if (part > 0 && breaks > 0) leaveOut(part)
  return { revoked, unread }
}

/**
 * Reads the journal beside a file. A missing one is empty. Throws NotConfigured if it can't be read
 * or is another program's file. A disk that damages a line must not take the others along:
 * `onUnread` gets an error for the operator.
 */
export function readJournal(
  path: string,
  onUnread: (fault: NotConfigured) => void,
): Map<string, Instant> {
  const { revoked, unread } = readLines(textOf(path))
  if (unread.count === 0) return revoked
  if (revoked.size === 0)
    throw unreadable(path, 'it has no line of a journal; put the journal back, or move this file')
  onUnread(
    unreadable(path, `${sayUnread(unread)}; put what a copy of the journal has there in its place`),
  )
  return revoked
}

/** Does not repeat the line, which may be of any file. */
export function sayUnread({ first, count }: Unread): string {
  const others = count === 1 ? '' : ` (and ${countOf(count - 1, 'line')} more)`
  return `line ${first}${others} is not an instant, the word key and 64 hexadecimal digits`
}

function textOf(path: string): string {
  try {
    const file = openSync(path, O_RDONLY | OPEN)
    try {
      if (!fstatSync(file).isFile()) throw unreadable(path, 'it is not a regular file')
      return readFileSync(file, 'latin1')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    if (error instanceof NotConfigured) throw error
    throw unreadable(path, reasonOf(error))
  }
}

function unreadable(path: string, reason: string): NotConfigured {
  return new NotConfigured(
    `cannot read the journal of revocations ${path}: ${reason}; ` +
      'without it, revoked keys could work again',
  )
}

/**
 * Appends a line for each hash. When it resolves, the lines survive a loss of power. Throws
 * NotJournaled. After that only new lines count, because the system may have dropped what a failed
 * write or sync left in memory.
 */
export async function appendToJournal(path: string, revoked: Revocations): Promise<void> {
  // Each line begins with a line break, too, which ends what a crash has left before it.
  const lines = Array.from(revoked, ([hash, at]) => `\n${revocationLine(hash, at)}`)
  try {
    await withFile(path, O_WRONLY | O_APPEND | O_CREAT | OPEN, async (file) => {
      if (!(await file.stat()).isFile()) throw new Error('it is not a regular file')
      if (isRoot()) await giveToOwner(file, path)
      await file.appendFile(lines.join(''))
      await file.datasync()
    })
    // Always: another process may have made the file and ended before it did this.
    await syncFolder(dirname(path))
  } catch (error) {
    throw new NotJournaled(
      `cannot write the journal of revocations ${path}: ${reasonOf(error)}. ` +
        'The keys that it lacks are revoked, but an older copy of the database would bring them back: ' +
        'mend the journal, and run the command or start the service again',
      { cause: error },
    )
  }
}

/**
 * A command of root must not leave a journal that the service can't read. SQLite gives its own
 * files beside the database to the owner of the database, too.
 */
async function giveToOwner(file: FileHandle, path: string): Promise<void> {
  const owner = await stat(path.slice(0, -JOURNAL.length)).catch(() => null)
  if (owner !== null) await file.chown(owner.uid, owner.gid)
}

/** A link could lead root to any file, and a copy of the folder would leave its target behind. */
function reasonOf(error: unknown): string {
  if (codeOf(error) === 'ELOOP') return 'it is a link; replace the link by the file'
  return (error as Error).message
}
