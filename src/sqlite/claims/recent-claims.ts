import type { DatabaseSync } from 'node:sqlite'
import { registerBoot } from './boots.ts'
import { transact } from '../database.ts'
import { createCompaction, compactAll } from './compaction.ts'
import { createStamps, readLastSecond, type Stamp } from './stamps.ts'

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
  /** Appends a claim within the open transaction. */
  append(serial: number, keyHash: Uint8Array, stamp: Stamp): void
  /**
   * Another connection has changed the file. If it restored a backup, old rows of `uses` are back,
   * so the next append looks at them.
   */
  noticeChange(): void
  /** The transaction has ended. Its claims count if it was committed. */
  settle(committed: boolean): void
  /** Takes the next step of the compaction, if there is one, in its own transaction. */
  compactStep(): void
}

/** `now` is on the monotonic clock of the boot with this id. */
export function createRecentClaims(
  database: DatabaseSync,
  bootId: string,
  now: number,
): RecentClaims {
  const stamps = createStamps()
  let boot = transact(database, () => {
    const number = registerBoot(database, bootId)
    compactAll(database)
    for (const { api_key, key_hash, ...stamp } of readLastSecond(database, number, now))
      stamps.set(api_key, key_hash, stamp)
    return number
  })
  const insert = database.prepare(
    'INSERT INTO uses (number, api_key, used_at, monotonic, boot) VALUES (?, ?, ?, ?, ?)',
  )
  const findNewest = database.prepare('SELECT max(number) AS number FROM uses')
  const findSchema = database.prepare('PRAGMA schema_version')
  const readSchema = () => Number(findSchema.get()?.schema_version)

  const compaction = createCompaction(database, stamps)
  let pending: { serial: number; keyHash: Uint8Array; stamp: Stamp }[] = []
  let newest = 0
  // A restore changes it. So does a change of the schema, after which compacting all rows does no
  // harm.
  let schema = readSchema()
  let seenSchema = schema
  let mustLook = false

  function lookAgain(): void {
    newest = Math.max(newest, Number(findNewest.get()?.number))
    seenSchema = readSchema()
    if (seenSchema !== schema) boot = registerBoot(database, bootId)
  }

  return {
    lastUse: stamps.lastUse,

    append(serial, keyHash, stamp) {
      if (mustLook && pending.length === 0) lookAgain()
      pending.push({ serial, keyHash, stamp })
      insert.run(newest + pending.length, serial, stamp.used_at, stamp.monotonic, boot)
    },

    noticeChange() {
      mustLook = true
    },

    settle(committed) {
      // A commit that reported a failure may have succeeded, so its numbers are not used again.
      newest += pending.length
      if (committed && pending.length > 0) {
        mustLook = false
        for (const { serial, keyHash, stamp } of pending) {
          stamps.set(serial, keyHash, stamp)
          compaction.add(serial)
        }
        if (seenSchema !== schema) compaction.beginWithRestored(newest)
        schema = seenSchema
      }
      pending = []
      compaction.beginWhenDue(newest)
    },

    compactStep: () => compaction.step(boot, schema),
  }
}
