import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createEpisodes } from '../../log/episodes.ts'
import { type Finding, ok, warning } from '../../model/health/finding.ts'
import { MEGABYTE } from '../../model/text.ts'

/**
 * A commit copies a log of half this size into the file. A reader must be blocking a log this
 * large.
 */
const LOG_BYTES_MAX = 64 * MEGABYTE

/**
 * SQLite locks these five bytes of the wal-index for readers (https://sqlite.org/walformat.html).
 */
const READ_LOCK_FIRST = 123
const READ_LOCK_LAST = 127

export class LargeLog extends Error {
  override name = 'LargeLog'
}

/**
 * Watches the size of the write-ahead log. `onFault` gets one error with the likely cause when the
 * log becomes too large. SQLite names the log and its index after the file itself, not after a link
 * to it.
 */
export function createLogWatch(
  databasePath: string,
  onFault: (fault: unknown) => void,
): (bytes: number) => void {
  const path = realpathSync(databasePath)
  const large = createEpisodes(onFault)
  return (bytes) => {
    if (bytes <= LOG_BYTES_MAX) large.end()
    else large.meet(() => new LargeLog(judgeLog(path, bytes).found))
  }
}

/** `path` is that of the file itself. */
export function judgeLog(path: string, bytes: number): Finding {
  if (bytes <= LOG_BYTES_MAX)
    return ok('log', `the write-ahead log has ${Math.ceil(bytes / MEGABYTE)} MB`)
  return warning(
    'log',
    `the write-ahead log ${path}-wal has grown to ${Math.round(bytes / MEGABYTE)} MB: ${causeOf(path)}`,
    'end the process that reads, or wait for the transaction',
  )
}

function causeOf(path: string): string {
  const readers = readersOf(path)
  if (readers.length === 0)
    return 'a transaction of another program is that large, or the disk is slower than what is written'
  const [which, verb] = readers.length === 1 ? ['process', 'has'] : ['processes', 'have']
  return `${which} ${readers.join(', ')} ${verb} a read transaction open, which keeps the log from being emptied; end it`
}

/**
 * Other processes with an open read transaction, as far as the system names them. The service reads
 * all the time, and never for long.
 */
function readersOf(path: string): number[] {
  try {
    const locks = readFileSync('/proc/locks', 'utf8')
    const service = locksIn(locks, inodeOf(`${path}-serving`))
    const excluded = [process.pid, ...service.map(({ pid }) => pid)]
    return readersIn(locks, inodeOf(`${path}-shm`), excluded)
  } catch {
    return []
  }
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null
}

/** Processes with an open read transaction, but for the excluded ones. */
export function readersIn(
  locks: string,
  inode: bigint | null,
  excluded: readonly number[],
): number[] {
  const pids = locksIn(locks, inode)
    .filter(
      ({ kind, first, last }) =>
        kind === 'READ' && first >= READ_LOCK_FIRST && last <= READ_LOCK_LAST,
    )
    .map(({ pid }) => pid)
  return [...new Set(pids)].filter((pid) => !excluded.includes(pid))
}

const LOCK = /POSIX +ADVISORY +(READ|WRITE) +(\d+) +[\da-f]+:[\da-f]+:(\d+) +(\d+) +(\d+)/g

/** The locks of a file in the system's list. */
function locksIn(locks: string, inode: bigint | null) {
  return [...locks.matchAll(LOCK)].flatMap(([, kind, pid, ino, first, last]) =>
    BigInt(ino!) === inode
      ? [{ kind, pid: Number(pid), first: Number(first), last: Number(last) }]
      : [],
  )
}
