import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { AuthenticationFault } from '../../listing/faults.ts'

/** The result of one look at the files. */
export interface Look {
  /** Null while each path names the file that this process has open. */
  fault: AuthenticationFault | null
  /** The size of the write-ahead log in bytes. */
  logBytes: number
}

/**
 * The files that a serving process holds open. It compares them with the files that their paths
 * name.
 */
export interface HeldFiles {
  /** Looks at the paths. The system has their inodes in memory, because the files are open. */
  look(): Look
}

/**
 * Remembers the files that this process has open: `file` and `lock` are the identities of the
 * database and of the serving lock. Call it when the log is open, too.
 */
export function holdFiles(path: string, file: string, lock: string): HeldFiles {
  const real = realpathSync(path)
  // The path as given, because a link in it may change its target.
  const paths = [path, `${real}-wal`, `${real}-shm`, `${real}-serving`]
  const held = [file, identityOf(`${real}-wal`), identityOf(`${real}-shm`), lock]

  return {
    look() {
      const found = paths.map(statOrNull)
      const lost = paths.filter((_, index) => {
        const stats = found[index]!
        return stats === null || identity(stats) !== held[index]
      })
      return {
        fault:
          lost.length === 0 ? null : lostFault(path, lost.map((one) => basename(one)).join(', ')),
        logBytes: Number(found[1]?.size ?? 0),
      }
    },
  }
}

/** The file that a path names. It changes if another file takes its place. */
export function identityOf(path: string): string {
  return identity(statSync(path, { bigint: true }))
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Null if no file can be found there: its folder may be gone, or closed to this process. */
function statOrNull(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true })
  } catch {
    return null
  }
}

function lostFault(path: string, names: string): AuthenticationFault {
  return new AuthenticationFault(
    `the database file ${path} cannot be served: ${names} was removed or replaced while this process had it open; ` +
      'restart the service to serve what is at the path now, or put back what was there',
  )
}
