import { realpathSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AuthenticationFault } from '../../listing/faults.ts'
import { codeOf } from '../errors.ts'

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
  /**
   * Looks at the paths. Runs on the thread pool, so that a slow disk does not stop the event loop.
   */
  look(): Promise<Look>
}

/**
 * Remembers the files that the paths of the database, its log and its serving lock name now. Call
 * it when all of them are open.
 */
export function holdFiles(path: string): HeldFiles {
  const real = realpathSync(path)
  // The path as given, because a link in it may change its target.
  const paths = [path, `${real}-wal`, `${real}-shm`, `${real}-serving`]
  const held = paths.map((one) => identity(statSync(one, { bigint: true })))

  return {
    async look() {
      const found = await Promise.all(paths.map(statOrNull))
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

interface Stats {
  dev: bigint
  ino: bigint
  size: bigint
}

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

/** Null if the file does not exist. Throws if the system can't tell. */
async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

function lostFault(path: string, names: string): AuthenticationFault {
  return new AuthenticationFault(
    `the database file ${path} cannot be served: ${names} was removed or replaced while this process had it open; ` +
      'restart the service to serve what is at the path now, or put back what was there',
  )
}
