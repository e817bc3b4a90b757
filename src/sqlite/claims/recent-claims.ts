import type { DatabaseSync } from 'node:sqlite'
import { CLAIM_INTERVAL_US } from '../../model/key-format.ts'
import { transact } from '../database.ts'
import { createCompaction, compactAll } from './compaction.ts'
import { createStamps, readLastSecond, type Stamp, type Stamps } from './stamps.ts'
import { prepareRows } from './write-rows.ts'

/**
 * The last use of every key, which decides the limit. Only the serving process records claims, so
 * its copy in memory is exact. At the start it reads what an earlier process recorded within the
 * last second.
 *
 * A claim is one appended row, many times cheaper than a change in the key's own row. Compaction
 * turns the rows into one per key later.
 */
export interface RecentClaims {
  /** The key's last use on this boot's monotonic clock; 0 if it is more than a second ago. */
  lastUse(serial: number, keyHash: Uint8Array): number
  /**
   * Appends the claims of a batch within the open transaction. They share a stamp. Throws MUST_WAIT
   * in the second after a claim whose row is gone, because another file was written over this one.
   * Keys of that file may have other numbers.
   */
  append(claims: readonly RecentClaim[], stamp: Stamp): void
  /**
   * Another connection has changed the file. If it restored a backup, old rows of
   * `recent_claims` are back, so the next append looks at them.
   */
  noticeChange(): void
  /** The transaction has ended. Its claims count if it was committed. */
  settle(committed: boolean): void
  /** Takes the next step of the compaction, if there is one, in its own transaction. */
  compactStep(): void
}

/** The batch can't be decided now. It changes nothing and waits. */
export const MUST_WAIT = new Error('the batch must wait')

/** A granted claim, by the number and the hash of its key. */
export interface RecentClaim {
  serial: number
  keyHash: Uint8Array
}

/** `now` is on the monotonic clock of the boot with this id. */
export function createRecentClaims(
  database: DatabaseSync,
  bootId: string,
  now: number,
): RecentClaims {
  const stamps = createStamps()
  let boot = startBoot(database, bootId, now, stamps)
  const writeClaims = createWriteClaims(database)
  const { readNewest, hasRow, readSchema } = prepareReads(database)
  const compaction = createCompaction(database, stamps)
  let pending: readonly RecentClaim[] = []
  let stamp: Stamp = { claimed_at: 0, monotonic: 0 }
  let lastClaim: Numbered = { number: 0, monotonic: -CLAIM_INTERVAL_US }
  let heldUntil = 0
  let newest = 0
  // A restore changes it. So does a change of the schema, after which compacting all rows does no
  // harm.
  let schema = readSchema()
  let seenSchema = schema
  let mustLook = false

  function lookAgain(): void {
    newest = Math.max(newest, readNewest())
    seenSchema = readSchema()
    if (seenSchema === schema) return
    boot = registerBoot(database, bootId)
    if (!hasRow(lastClaim)) heldUntil = lastClaim.monotonic + CLAIM_INTERVAL_US
  }

  return {
    lastUse: stamps.lastUse,

    append(claims, now) {
      if (claims.length === 0) return
      if (mustLook) lookAgain()
      if (now.monotonic < heldUntil) throw MUST_WAIT
      pending = claims
      stamp = now
      writeClaims(newest, claims, now, boot)
    },

    noticeChange() {
      mustLook = true
    },

    settle(committed) {
      // A commit that reported a failure may have succeeded, so its numbers are not used again.
      newest += pending.length
      if (committed && pending.length > 0) {
        mustLook = false
        lastClaim = { number: newest, monotonic: stamp.monotonic }
        for (const { serial, keyHash } of pending) {
          stamps.set(serial, keyHash, stamp)
          compaction.add(serial)
        }
        if (seenSchema !== schema) compaction.beginWithRestored(newest)
        schema = seenSchema
      }
      pending = []
      compaction.beginWhenDue(newest)
    },

    compactStep: () => compaction.step(boot, schema, stamp.monotonic),
  }
}

/** Registers the boot and reads the claims of the last second. Returns the boot's number. */
function startBoot(database: DatabaseSync, bootId: string, now: number, stamps: Stamps): number {
  return transact(database, () => {
    const number = registerBoot(database, bootId)
    compactAll(database)
    for (const { api_key, key_hash, ...stamp } of readLastSecond(database, number, now))
      stamps.set(api_key, key_hash, stamp)
    return number
  })
}

interface Numbered {
  number: number
  monotonic: number
}

function prepareReads(database: DatabaseSync) {
  const findNewest = database.prepare('SELECT max(number) AS number FROM recent_claims')
  const findRow = database.prepare('SELECT 1 FROM recent_claims WHERE number = ? AND monotonic = ?')
  const findSchema = database.prepare('PRAGMA schema_version')
  return {
    readNewest: () => Number(findNewest.get()?.number),
    hasRow: ({ number, monotonic }: Numbered) => findRow.get(number, monotonic) !== undefined,
    readSchema: () => Number(findSchema.get()?.schema_version),
  }
}

/** Writes one row for each claim, with the numbers after `newest`. */
function createWriteClaims(database: DatabaseSync) {
  const write = prepareRows(
    database,
    5,
    (values) =>
      `INSERT INTO recent_claims (number, api_key, claimed_at, monotonic, boot) VALUES ${values}`,
  )
  return (newest: number, claims: readonly RecentClaim[], stamp: Stamp, boot: number) => {
    const { claimed_at, monotonic } = stamp
    write(claims.length, (index, values, at) => {
      values[at] = newest + 1 + index
      values[at + 1] = claims[index]!.serial
      values[at + 2] = claimed_at
      values[at + 3] = monotonic
      values[at + 4] = boot
    })
  }
}

/** The number of this boot, which is stored with monotonic stamps. Needs an open transaction. */
export function registerBoot(database: DatabaseSync, bootId: string): number {
  database.prepare('INSERT INTO boots (boot_id) VALUES (?) ON CONFLICT DO NOTHING').run(bootId)
  return Number(database.prepare('SELECT number FROM boots WHERE boot_id = ?').get(bootId)?.number)
}
