import { randomUUID } from 'node:crypto'
import { constants, type DatabaseSync } from 'node:sqlite'

/** The tables whose rows are cached for as long as the revision stays. */
const CACHED_TABLES = new Set<string | null>(['api_keys', 'servers'])

/**
 * Returns a function that reads the file's revision, to be called within a transaction. Each commit
 * of another connection changes the revision. Commits of this one don't, so from now on SQLite
 * refuses its statements that write to a cached table. `onChange` runs after a change.
 */
export function createFileRevision(database: DatabaseSync, onChange: () => void): () => string {
  database.setAuthorizer(authorize)
  const dataVersion = database.prepare('PRAGMA data_version')
  dataVersion.setReturnArrays(true)
  // data_version has no meaning for another connection.
  const connectionTag = randomUUID()
  let version: number | null = null
  // The same string until a change, because every cached listing holds it.
  let revision = ''
  return () => {
    const [current] = dataVersion.get() as unknown as [number]
    if (current !== version) {
      onChange()
      version = current
      revision = `${connectionTag}:${version}`
    }
    return revision
  }
}

/** SQLite asks when it prepares a statement, also about the statements of triggers. */
function authorize(action: number, table: string | null): number {
  const isDenied = WRITES.has(action) && CACHED_TABLES.has(table)
  return isDenied ? constants.SQLITE_DENY : constants.SQLITE_OK
}

const WRITES = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE])
