import type { DatabaseSync } from 'node:sqlite'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { schemaVersion } from '../database.ts'
import type { Stamp, Stamps } from './stamps.ts'

/** A granted claim, by the number and the hash of its key. */
export interface RecentClaim {
  serial: number
  keyHash: Uint8Array
}

/** The rows of claims in the file. All functions need an open transaction. */
export type ClaimRows = ReturnType<typeof prepareClaimRows>

/** The row of a key replaces its last one. */
const REPLACING = `ON CONFLICT (api_key) DO UPDATE SET
  claimed_at = excluded.claimed_at, monotonic = excluded.monotonic, boot = excluded.boot`

export function prepareClaimRows(database: DatabaseSync) {
  const append = prepareRows(
    database,
    5,
    (values) =>
      `INSERT INTO recent_claims (number, api_key, claimed_at, monotonic, boot) VALUES ${values}`,
  )
  const keep = prepareRows(
    database,
    4,
    (values) =>
      `INSERT INTO last_claims (api_key, claimed_at, monotonic, boot) VALUES ${values} ${REPLACING}`,
  )
  const remove = database.prepare('DELETE FROM recent_claims WHERE number <= ?')
  const find = database.prepare('SELECT 1 FROM recent_claims WHERE number = ? AND monotonic = ?')

  return {
    /** Appends a row for each claim, with the numbers after `newest`. */
    append(newest: number, claims: readonly RecentClaim[], stamp: Stamp, boot: number): void {
      append(claims.length, (index, values, at) => {
        values[at] = newest + 1 + index
        values[at + 1] = claims[index]!.serial
        values[at + 2] = stamp.claimed_at
        values[at + 3] = stamp.monotonic
        values[at + 4] = boot
      })
    },

    /** Writes the last use of each of these keys. */
    keep(serials: Uint32Array, stamps: Stamps, boot: number): void {
      keep(serials.length, (index, values, at) => {
        const { claimed_at, monotonic } = stamps.get(serials[index]!)
        values[at] = serials[index]!
        values[at + 1] = claimed_at
        values[at + 2] = monotonic
        values[at + 3] = boot
      })
    },

    /** Removes appended rows up to this number. */
    removeUpTo(number: number): void {
      remove.run(number)
    },

    /** Whether the appended row with this number is this claim. */
    has: ({ number, monotonic }: { number: number; monotonic: number }): boolean =>
      find.get(number, monotonic) !== undefined,

    readSchema: schemaVersion(database),
  }
}

/** Compacts all rows at once; their number is bounded. Needs an open transaction. */
export function compactAll(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO last_claims (api_key, claimed_at, monotonic, boot)
      SELECT api_key, claimed_at, monotonic, boot
      FROM (SELECT api_key, claimed_at, monotonic, boot, max(number) FROM recent_claims GROUP BY api_key) WHERE true
    ${REPLACING};
    DELETE FROM recent_claims;
  `)
}

/**
 * Reads the claims of the last second of this boot that an earlier process has compacted, also
 * those of deleted keys: such a key may come back. Needs an open transaction, because it sets
 * stamps that are later than this boot's clock to the present. They then limit a key for one second
 * only. They come from another clock: a container's time namespace, or a machine that was restored
 * to a snapshot.
 */
export function readLastSecond(database: DatabaseSync, boot: number, now: number): KeptStamp[] {
  database
    .prepare('UPDATE removed_claims SET monotonic = ?1 WHERE boot = ?2 AND monotonic > ?1')
    .run(now, boot)
  // In their order: a key that came back has both rows, and the later one counts.
  const kept = database
    .prepare(
      `SELECT api_key, key_hash, claimed_at, monotonic FROM last_claims CROSS JOIN api_keys ON serial = api_key
       WHERE boot = ?1 AND monotonic > ?2
       UNION ALL SELECT serial, key_hash, claimed_at, monotonic FROM removed_claims
       WHERE boot = ?1 AND monotonic > ?2
       ORDER BY monotonic`,
    )
    .all(boot, now - CLAIM_INTERVAL_US) as unknown as KeptStamp[]
  const clamp = database.prepare('UPDATE last_claims SET monotonic = ? WHERE api_key = ?')
  for (const stamp of kept) {
    if (stamp.monotonic <= now) continue
    stamp.monotonic = now
    clamp.run(now, stamp.api_key)
  }
  return kept
}

interface KeptStamp extends Stamp {
  api_key: number
  key_hash: Uint8Array
}

/** The number of this boot, which is stored with monotonic stamps. Needs an open transaction. */
export function registerBoot(database: DatabaseSync, bootId: string): number {
  database.prepare('INSERT INTO boots (boot_id) VALUES (?) ON CONFLICT DO NOTHING').run(bootId)
  return Number(database.prepare('SELECT number FROM boots WHERE boot_id = ?').get(bootId)?.number)
}

/** Rows of one statement. To run a statement costs as much as to write a row. */
const ROWS_AT_ONCE = 16

/** Puts the values of the row with this index into `values`, from `at` on. */
type FillRow = (index: number, values: number[], at: number) => void

/**
 * Prepares statements that write rows of `width` numbers. `statement` makes one from its VALUES.
 * Returns a function that writes a number of rows. A fault leaves the rows before it.
 */
function prepareRows(
  database: DatabaseSync,
  width: number,
  statement: (values: string) => string,
): (count: number, fill: FillRow) => void {
  const write = prepare(database, width, 1, statement)
  const writeSeveral = prepare(database, width, ROWS_AT_ONCE, statement)

  return (count, fill) => {
    let written = 0
    for (; written + ROWS_AT_ONCE <= count; written += ROWS_AT_ONCE) writeSeveral(written, fill)
    for (; written < count; written += 1) write(written, fill)
  }
}

function prepare(
  database: DatabaseSync,
  width: number,
  rows: number,
  statement: (values: string) => string,
): (first: number, fill: FillRow) => void {
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  const prepared = database.prepare(statement(Array.from({ length: rows }, () => row).join(', ')))
  // Reused, so that a row makes no garbage.
  const values = Array.from({ length: rows * width }, () => 0)

  return (first, fill) => {
    for (let index = 0; index < rows; index += 1) fill(first + index, values, index * width)
    prepared.run(...values)
  }
}
