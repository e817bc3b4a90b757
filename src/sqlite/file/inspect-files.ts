import { realpathSync, type Stats, statfsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { NotConfigured } from '../../model/faults.ts'
import { type Finding, ok, problem, warning } from '../../model/health/finding.ts'
import { MEGABYTE } from '../../model/text.ts'
import { journalOf, readJournal } from '../journal/journal.ts'
import { judgeLog } from './log-size.ts'

/** Below it the alert on a full disk fires, too. */
const FREE_BYTES_MIN = 512 * MEGABYTE

/** Looks at the files of an existing database: rights, space, journal, write-ahead log. */
export function inspectFiles(path: string): Finding[] {
  const real = realpathSync(path)
  return [
    inspectRights(real),
    inspectPrivacy(real),
    inspectDisk(real),
    inspectJournal(real),
    judgeLog(real, statSync(`${real}-wal`, { throwIfNoEntry: false })?.size ?? 0),
  ]
}

/** The files that stand beside a database and belong to it. */
function filesOf(real: string): { path: string; stats: Stats }[] {
  return ['', '-wal', '-shm', '-serving', '-revoked']
    .map((end) => `${real}${end}`)
    .flatMap((path) => {
      // A service that ends meanwhile removes its log.
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats === undefined ? [] : [{ path, stats }]
    })
}

/** Whether the owner of the database can write all of it. Root can always. */
function inspectRights(real: string): Finding {
  const files = filesOf(real)
  const { uid } = statSync(real)
  const foreign = files.filter(({ stats }) => stats.uid !== uid)
  if (foreign.length > 0)
    return problem(
      'rights',
      `${foreign.map(({ path }) => path).join(', ')} and the database file belong to different users`,
      `run commands as the user of the service (id ${uid}), and give the files to it with chown`,
    )
  const closed = files.find(({ stats }) => (stats.mode & 0o600) !== 0o600)
  if (closed !== undefined)
    return problem('rights', `the owner of ${closed.path} may not write it`, 'run chmod u+rw on it')
  const folder = dirname(real)
  if (!mayWrite(statSync(folder), statSync(real)))
    return problem(
      'rights',
      `the owner of the database file (id ${uid}) may not write to its folder ${folder}`,
      'SQLite makes files beside the database: give the folder to that user with chown',
    )
  return ok('rights', `the owner of ${real} can write it and its folder`)
}

/** A group may have members that only the system knows, so it counts as allowed. */
function mayWrite(folder: Stats, { uid }: Stats): boolean {
  if (uid === 0 || (folder.mode & 0o022) !== 0) return true
  return folder.uid === uid && (folder.mode & 0o200) !== 0
}

function inspectPrivacy(real: string): Finding {
  const open = filesOf(real).filter(({ stats }) => (stats.mode & 0o077) !== 0)
  if (open.length === 0) return ok('privacy', 'only its owner can read the database')
  const names = open.map(({ path, stats }) => `${basename(path)} (${octal(stats)})`).join(', ')
  return warning(
    'privacy',
    `other users of this machine may read or write ${names}`,
    'the database has hashes of keys and passwords, and email addresses: run chmod 600 on the files',
  )
}

function octal({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}

function inspectDisk(real: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(real))
  return judgeDisk(bavail * bsize)
}

export function judgeDisk(free: number): Finding {
  const found = `the disk of the database has ${Math.floor(free / MEGABYTE)} MB left`
  if (free >= FREE_BYTES_MIN) return ok('disk', found)
  return problem('disk', found, 'make room: on a full disk every key gets 502')
}

function inspectJournal(real: string): Finding {
  const path = journalOf(real)
  try {
    const { size } = readJournal(path, (fault) => {
      throw fault
    })
    return ok('journal', `the journal of revocations has ${size} keys`)
  } catch (error) {
    if (!(error instanceof NotConfigured)) throw error
    return problem('journal', error.message, `put a copy of ${path} in its place`)
  }
}
