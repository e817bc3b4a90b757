import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { USE_INTERVAL } from '../listing/api-key.ts'
import { AuthenticationFault, ListFault } from '../listing/faults.ts'
import { SERVERS_MAX, type ServerRow } from '../listing/server.ts'
import type { Recall, Use } from '../listing/store.ts'
import type { Clock } from './clock.ts'
import { isLocked, rollBack } from './database.ts'
import { createRecentUses } from './recent-uses.ts'

/**
 * Pages in the write-ahead log before a commit copies them into the database file and waits for the disk, which stops
 * the event loop for a millisecond or so. SQLite's own 1,000 stops it rarer, and four times as long.
 */
const CHECKPOINT_PAGES = 256

/** One `useApiKey` call, as it waits for its batch. */
export interface Call {
  keyHash: Uint8Array
  recall: Recall
}

export type Outcome = Use | AuthenticationFault | ListFault

export interface Uses {
  /** Decides the calls of one batch in one transaction; null if another process holds the file's lock. */
  useTogether(calls: readonly Call[]): Outcome[] | null
  /** A little upkeep, to be done after a batch was answered. */
  tidy(): void
}

/**
 * The act of spec 5.2, steps 3 to 6, for the calls that arrived together. The connection is this module's own and
 * writes nothing but uses, which is why its `data_version` moves exactly when anything else in the file changed.
 */
export function createUses(database: DatabaseSync, boot: number, clock: Clock): Uses {
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  const dataVersion = database.prepare('PRAGMA data_version')
  dataVersion.setReturnArrays(true)
  const findApiKey = database.prepare(
    'SELECT serial, id, user_id, revoked_at FROM api_keys WHERE key_hash = ?',
  )
  findApiKey.setReturnArrays(true)
  // Prepared where it is used: while the servers cannot be read at all, keys still can.
  const list = `
    SELECT id, name, slug, host_label, edition, status, version, listing_kind FROM servers
    WHERE created_by = ? AND organization_id IS NULL
    ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}
  `
  let listServers: ReturnType<DatabaseSync['prepare']> | null = null
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')

  const recent = createRecentUses(database, boot, clock.monotonic())
  // data_version means nothing to another connection.
  const connectionTag = randomUUID()
  let version: number | null = null
  let revision = ''

  /** One string for as long as nothing changes, since every remembered listing holds it. */
  function readRevision(): string {
    const [current] = dataVersion.get() as unknown as [number]
    if (current !== version) {
      version = current
      revision = `${connectionTag}:${version}`
    }
    return revision
  }

  function useTogether(calls: readonly Call[]): Outcome[] | null {
    const outcomes: Outcome[] = []
    // By serial, the first call of each key that may be used: the only one of its key in this batch that can be.
    const candidates = new Map<number, number>()
    try {
      rollBack(database)
      begin.run()
    } catch (error) {
      if (isLocked(error)) return null
      return calls.map(() => notRecorded(error))
    }
    try {
      const present = readRevision()
      const now = clock.monotonic()
      for (const [index, call] of calls.entries())
        outcomes.push(decide(call, index, present, now, candidates, outcomes))
      recordUses(candidates, outcomes)
      return outcomes
    } catch (error) {
      undo()
      return withoutUses(calls, outcomes, notRecorded(error))
    }
  }

  function undo(): void {
    try {
      rollBack(database)
    } catch {
      // The next batch begins with the same trouble, and tells of it.
    }
    recent.settle(false)
  }

  function decide(
    call: Call,
    index: number,
    present: string,
    now: number,
    candidates: Map<number, number>,
    outcomes: readonly Outcome[],
  ): Outcome {
    const found = findApiKey.get(call.keyHash) as unknown as ApiKeyRow | undefined
    if (found === undefined) return { outcome: 'unknown' }
    const [serial, apiKeyId, userId, revokedAt] = found
    if (revokedAt !== null) return { outcome: 'revoked', apiKeyId }

    const candidate = candidates.get(serial)
    if (candidate !== undefined) return shareFate(outcomes[candidate]!, apiKeyId)
    const last = recent.lastUse(serial)
    if (last !== 0 && now - last < USE_INTERVAL) return { outcome: 'too soon', apiKeyId }

    candidates.set(serial, index)
    try {
      const rows = call.recall(userId) === present ? null : readList(userId)
      return { outcome: 'used', apiKeyId, userId, revision: present, rows }
    } catch (error) {
      return new ListFault('the servers could not be read', { cause: error })
    }
  }

  function readList(userId: string): ServerRow[] {
    listServers ??= database.prepare(list)
    return listServers.all(userId) as unknown as ServerRow[]
  }

  /** Records the candidates that got their list, commits, and only then remembers them. */
  function recordUses(candidates: Map<number, number>, outcomes: readonly Outcome[]): void {
    // An error while reading a list may have ended the transaction; a row appended now would be committed by itself.
    if (!database.isTransaction) throw new Error('the transaction was ended by an error')
    const stamp = { used_at: clock.present(), monotonic: clock.monotonic() }
    for (const [serial, index] of candidates)
      if (!(outcomes[index] instanceof ListFault)) recent.append(serial, stamp)
    commit.run()
    recent.settle(true)
  }

  return { useTogether, tidy: recent.foldStep }
}

type ApiKeyRow = [serial: number, id: string, userId: string, revokedAt: number | null]

/** Of several calls with one key the first is decided; the rest were too soon if it was used, and fail as it fails. */
function shareFate(first: Outcome, apiKeyId: string): Outcome {
  return first instanceof ListFault ? first : { outcome: 'too soon', apiKeyId }
}

/** The outcomes of a batch that was not committed: what was only read stays true, whatever hung on a use fails. */
function withoutUses(
  calls: readonly Call[],
  outcomes: readonly Outcome[],
  fault: AuthenticationFault,
): Outcome[] {
  const notUsed = new Set<string>()
  // Rows are for those alone that were to be used.
  for (const outcome of outcomes) if ('rows' in outcome) notUsed.add(outcome.apiKeyId)
  return calls.map((_, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return fault
    return 'apiKeyId' in outcome && notUsed.has(outcome.apiKeyId) ? fault : outcome
  })
}

function notRecorded(error: unknown): AuthenticationFault {
  return new AuthenticationFault('keys could not be looked up or their use not recorded', {
    cause: error,
  })
}
