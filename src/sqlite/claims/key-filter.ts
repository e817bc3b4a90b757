import type { DatabaseSync } from 'node:sqlite'
import { wordOf } from '../../claims/key-cache.ts'

/**
 * A Bloom filter of the hashes of all keys, with one bit for each hash. A claim with an unknown key
 * need not read the database if its bit is clear.
 *
 * A clear bit proves that the key is unknown, because the filter then has every row of this version
 * of the file. The schema gives each new row a larger serial than any row before it, and refuses
 * another serial or hash for a row (migration 12). So a filter with the rows up to a serial is
 * complete once a read finds no row after it. A removed key leaves its bit, which proves nothing.
 */
export interface KeyFilter {
  /** Whether it is proven that no key has this hash. Needs an open transaction. */
  excludes(keyHash: Uint8Array): boolean
  /** Reads the next rows, if the filter may lack some. Needs an open transaction. */
  read(): void
  /**
   * Must run within the transaction that first sees another version of the file, before the first
   * `excludes`. The filter excludes nothing until it is complete again.
   */
  noticeChange(): void
}

/** The bytes of a hash that choose its bit. The cache of rows sorts by those before. */
const HASHED_FROM = 8
/** Rows of one read, which goes with a lookup. Few, so that no claim waits long for it. */
const ROWS_AT_ONCE = 16
/** With 16 to 32 bits for each key, 3 to 6 of 100 unknown keys meet a set bit. */
const BITS_PER_KEY = 16
const BITS_MIN = 1 << 14
/** 8 MiB. Above 4,194,304 keys more bits are set: one in seven with 10,000,000 keys. */
const BITS_MAX = 1 << 26

/** An unusable filter lacks the rules of the schema, or a read of it has failed. */
type State = 'incomplete' | 'complete' | 'unusable'

export function createKeyFilter(database: DatabaseSync, bitsMax = BITS_MAX): KeyFilter {
  const rows = prepareReads(database)
  let words = new Int32Array(BITS_MIN / 32)
  let mask = BITS_MIN - 1
  let state: State = 'incomplete'
  /** The filter has all rows up to this serial. */
  let last = 0
  let hasRules = false
  let schema: number | null = null
  let hasChanged = true

  function startAnew(): void {
    const wanted = BITS_PER_KEY * rows.largestSerial()
    let bits = BITS_MIN
    while (bits < wanted && bits < bitsMax) bits *= 2
    if (bits === mask + 1) words.fill(0)
    else words = new Int32Array(bits / 32)
    mask = bits - 1
    last = 0
    hasRules = rows.hasRules()
  }

  /** A restore replaces rows, and another program may drop the rules. Both change the schema. */
  function checkSchema(): void {
    const current = rows.schema()
    if (current !== schema) startAnew()
    schema = current
    hasChanged = false
  }

  function readNext(): State {
    if (hasChanged) checkSchema()
    if (!hasRules) return 'unusable'
    const [count, largest, hex] = rows.after(last)
    for (let index = 0; index < count; index += 1) {
      const bit = Number.parseInt(hex.slice(8 * index, 8 * index + 8), 16) & mask
      words[bit >>> 5]! |= 1 << (bit & 31)
    }
    if (count > 0) last = largest
    const mustGrow = BITS_PER_KEY * last > mask + 1 && mask + 1 < bitsMax
    if (mustGrow) startAnew()
    return mustGrow || count === ROWS_AT_ONCE ? 'incomplete' : 'complete'
  }

  return {
    excludes(keyHash) {
      if (state !== 'complete') return false
      const bit = wordOf(keyHash, HASHED_FROM) & mask
      return (words[bit >>> 5]! & (1 << (bit & 31))) === 0
    },

    read() {
      if (state !== 'incomplete') return
      try {
        state = readNext()
      } catch {
        // A damaged row must not fail the claims of other keys. Each lookup reports its own fault.
        state = 'unusable'
        schema = null
      }
    },

    noticeChange() {
      state = 'incomplete'
      hasChanged = true
    },
  }
}

/** The number of rows, their largest serial, and the four bytes of each that choose its bit. */
type NextRows = [count: number, largest: number, hex: string]

function prepareReads(database: DatabaseSync) {
  const findSchema = database.prepare('PRAGMA schema_version')
  const countRules = database.prepare(`
    SELECT count(*) AS count FROM sqlite_schema
    WHERE type = 'trigger' AND tbl_name = 'api_keys' AND name IN ('api_keys_added', 'api_keys_changed')
  `)
  const findLargest = database.prepare('SELECT max(serial) AS serial FROM api_keys')
  // The driver takes longer for 16 rows than for one row with a text.
  const findNext = database.prepare(`
    SELECT count(*), max(serial), group_concat(hex(substr(key_hash, ${HASHED_FROM + 1}, 4)), '')
    FROM (SELECT serial, key_hash FROM api_keys WHERE serial > ? ORDER BY serial LIMIT ${ROWS_AT_ONCE})
  `)
  findNext.setReturnArrays(true)
  return {
    schema: () => Number(findSchema.get()?.schema_version),
    hasRules: () => countRules.get()?.count === 2,
    largestSerial: () => Number(findLargest.get()?.serial),
    after: (serial: number) => findNext.get(serial) as unknown as NextRows,
  }
}
