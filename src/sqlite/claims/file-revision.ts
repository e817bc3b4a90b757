import { randomUUID } from 'node:crypto'
import { constants, type DatabaseSync } from 'node:sqlite'
import { schemaVersion } from '../database.ts'

/** The tables whose rows are cached for as long as the revision stays. */
const CACHED_TABLES = new Set<string | null>(['api_keys', 'servers'])

/** The state of the file in a transaction. */
export interface FileRevision {
  /** The same string until another connection commits, because every cached listing holds it. */
  revision: string
  /** See `schemaVersion`. */
  schema: number
}

/**
 * Returns a function that reads the file's revision, to be called within a transaction. Each commit
 * of another connection changes the revision. Commits of this one don't, so from now on SQLite
 * refuses its statements that write to a cached table. `onChange` runs after a change.
 */
export function createFileRevision(
  database: DatabaseSync,
  onChange: () => void,
): () => FileRevision {
  database.setAuthorizer(authorize)
  const readSchema = schemaVersion(database)
  const dataVersion = database.prepare('PRAGMA data_version')
  dataVersion.setReturnArrays(true)
  // data_version has no meaning for another connection.
  const connectionTag = randomUUID()
  let version: number | null = null
  let file: FileRevision = { revision: '', schema: 0 }
  return () => {
    const [current] = dataVersion.get() as unknown as [number]
    if (current !== version) {
      onChange()
      file = {
        revision: `${connectionTag}:${current}`,
        schema: readSchema(),
      }
      version = current
    }
    return file
  }
}

/** SQLite asks when it prepares a statement, also about the statements of triggers. */
function authorize(action: number, table: string | null): number {
  const isDenied = WRITES.has(action) && CACHED_TABLES.has(table)
  return isDenied ? constants.SQLITE_DENY : constants.SQLITE_OK
}

const WRITES = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE])
