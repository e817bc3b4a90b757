import type { DatabaseSync } from 'node:sqlite'
import { USE_INTERVAL } from '../listing/api-key.ts'
import type { Instant } from '../listing/instant.ts'
import { transact } from './database.ts'

/** The moment of a use, by both clocks. All uses of one batch share one stamp. */
export interface Stamp {
  used_at: Instant
  monotonic: number
  /** The row of `boots` that `monotonic` belongs to. */
  boot: number
}

/** Rows appended to `uses` before they are folded into `last_uses`. More fold cheaper, and are slower to read. */
const FOLD_AFTER = 32_768
/** Rows that one step of folding writes or removes: some tenths of a millisecond. */
const FOLD_STEP = 256

/**
 * The last uses of the keys that were used lately: what the limit is decided on. Only the serving process records
 * uses, so its memory of them is exact; what an earlier process recorded is read when this one starts.
 *
 * A use is one appended row, fifteen times cheaper than a change in the key's own row. Two generations of such rows
 * exist: the younger grows while the older is folded into one row a key, a step at a time, in the order of the
 * table, and removed.
 */
export interface RecentUses {
  /** When the key was last used, on this boot's monotonic clock; undefined if that is more than a second ago. */
  lastUse(serial: number): number | undefined
  /** Appends a use within the transaction that is open. */
  append(serial: number, stamp: Stamp): void
  /** To be called when that transaction has ended: its uses are remembered if it was committed. */
  settle(committed: boolean): void
  /** Takes the next step of folding, if there is one, in a transaction of its own. */
  foldStep(): void
}

export function createRecentUses(database: DatabaseSync, boot: number, now: number): RecentUses {
  const insert = database.prepare(
    'INSERT INTO uses (number, api_key, used_at, monotonic, boot) VALUES (?, ?, ?, ?, ?)',
  )
  const upsert = database.prepare(`
    INSERT INTO last_uses (api_key, used_at, monotonic, boot) VALUES (?, ?, ?, ?)
    ON CONFLICT (api_key) DO UPDATE SET
      used_at = excluded.used_at, monotonic = excluded.monotonic, boot = excluded.boot
  `)
  const removeUpTo = database.prepare('DELETE FROM uses WHERE number <= ?')

  let younger = new Map<number, Stamp>()
  let older = readStored(database, boot, now)
  let turnedAt = now
  let pending: [serial: number, stamp: Stamp][] = []

  // The rows of `uses`, by number: removed, the older generation's, the younger generation's.
  const stored = rowRange(database)
  let removedTo = stored.first - 1
  let olderTo = stored.last
  let newest = stored.last

  // The older generation's keys in the order of their rows, and how many of them are folded.
  let serials = inOrder(older)
  let folded = 0

  function settle(committed: boolean): void {
    if (committed && pending.length > 0) {
      newest += pending.length
      for (const [serial, stamp] of pending) younger.set(serial, stamp)
      turnIfDue(pending[0]![1].monotonic)
    }
    pending = []
  }

  /** Lets the younger generation become the older one, once nothing in the older one is of the last second. */
  function turnIfDue(monotonic: number): void {
    const isFolded = folded === serials.length && removedTo === olderTo
    if (newest - olderTo < FOLD_AFTER || monotonic - turnedAt < USE_INTERVAL || !isFolded) return
    older = younger
    younger = new Map()
    turnedAt = monotonic
    olderTo = newest
    serials = inOrder(older)
    folded = 0
  }

  return {
    settle,

    lastUse(serial) {
      const stamp = younger.get(serial) ?? older.get(serial)
      return stamp?.boot === boot ? stamp.monotonic : undefined
    },

    append(serial, stamp) {
      pending.push([serial, stamp])
      insert.run(newest + pending.length, serial, stamp.used_at, stamp.monotonic, stamp.boot)
    },

    foldStep() {
      if (folded < serials.length) {
        const step = serials.subarray(folded, folded + FOLD_STEP)
        transact(database, () => {
          for (const serial of step) {
            const stamp = older.get(serial)!
            upsert.run(serial, stamp.used_at, stamp.monotonic, stamp.boot)
          }
        })
        folded += step.length
      } else if (removedTo < olderTo) {
        const upTo = Math.min(removedTo + FOLD_STEP, olderTo)
        transact(database, () => removeUpTo.run(upTo))
        removedTo = upTo
      }
    },
  }
}

/** The uses that an earlier process left: those not folded yet, and the folded ones of the last second. */
function readStored(database: DatabaseSync, boot: number, now: number): Map<number, Stamp> {
  const columns = 'api_key, used_at, monotonic, boot'
  const rows = [
    ...database
      .prepare(`SELECT ${columns} FROM last_uses WHERE boot = ? AND monotonic > ?`)
      .all(boot, now - USE_INTERVAL),
    ...database.prepare(`SELECT ${columns} FROM uses ORDER BY number`).all(),
  ] as unknown as (Stamp & { api_key: number })[]
  return new Map(rows.map(({ api_key, ...stamp }) => [api_key, stamp]))
}

function rowRange(database: DatabaseSync): { first: number; last: number } {
  const range = database
    .prepare('SELECT coalesce(min(number), 1) AS first, coalesce(max(number), 0) AS last FROM uses')
    .get()
  return { first: Number(range?.first), last: Number(range?.last) }
}

function inOrder(generation: ReadonlyMap<number, Stamp>): Float64Array {
  return Float64Array.from(generation.keys()).toSorted()
}
