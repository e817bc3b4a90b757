import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { AuthenticationFault } from '../../model/faults.ts'
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
      const found = paths.map(inspect)
      const seen = found.map((one, index) => seenAt(one, held[index]!))
      const log = found[1]
      return {
        fault: seen.every((one) => one === IN_PLACE) ? null : faultOf(path, paths, seen),
        logBytes: typeof log === 'object' ? Number(log.size) : 0,
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

/** What a path names. Undefined if nothing, and the code of the error if the system can't tell. */
function inspect(path: string): BigIntStats | undefined | string {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    return codeOf(error) ?? String(error)
  }
}

const IN_PLACE = 'in place'
const REMOVED = 'removed'
const REPLACED = 'replaced'

/** One of the three words above, or the code of an error. */
function seenAt(found: ReturnType<typeof inspect>, held: string): string {
  if (found === undefined) return REMOVED
  if (typeof found === 'string') return found
  return identity(found) === held ? IN_PLACE : REPLACED
}

function faultOf(
  path: string,
  paths: readonly string[],
  seen: readonly string[],
): AuthenticationFault {
  const namesOf = (what: string) =>
    paths.filter((_, index) => seen[index] === what).map((one) => basename(one))
  const kinds = [...new Set(seen)].filter((one) => one !== IN_PLACE)
  const isMoved = kinds.some((one) => one === REMOVED || one === REPLACED)
  return new AuthenticationFault(
    `the database file ${path} cannot be served: ${kinds.map((one) => describe(one, namesOf(one))).join(', and ')}; ` +
      (isMoved
        ? 'restart the service to serve what is at the path now, or put back what was there'
        : 'give the user of this process access to every folder on the path. The service then continues by itself'),
  )
}

function describe(seen: string, names: readonly string[]): string {
  const text = names.join(', ')
  if (seen !== REMOVED && seen !== REPLACED) return `this process can't look at ${text} (${seen})`
  return `${text} ${names.length === 1 ? 'was' : 'were'} ${seen} while this process had ${names.length === 1 ? 'it' : 'them'} open`
}
