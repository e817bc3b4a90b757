import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { CLAIM_INTERVAL_US } from '../../../src/model/claim.ts'
import { apply, type Changes, type Content, emptyContent, type Reading } from '../model/content.ts'

/**
 * A line that a writer prints. `begun` and `done` belong to one act; `used` follows a granted
 * claim.
 */
export type Line =
  | { line: 'opening' }
  | { line: 'opened'; reading: Reading }
  /** What the writer finds after a failure, before it goes on. */
  | { line: 'looked'; reading: Reading }
  | { line: 'begun'; changes: Changes }
  | { line: 'done' }
  /**
   * Claimed at `t0` and granted by `t1`, in microseconds of the monotonic clock; `at` is wall-clock
   * time.
   */
  | { line: 'granted'; apiKeyId: string; t0: number; t1: number; at: number }
  /** The store threw an error. A begun act may be done or not. */
  | { line: 'failed'; reason: string }

/** All lines that the writers of one database have printed, and the content that must follow. */
export interface Ledger {
  take(line: Line): void
  acknowledged: number
  claims: number
  /** Acts that were cut off, and the number of those that were done. */
  cutOff: number
  doneUnacknowledged: number
  /**
   * Throws unless the database holds all acknowledged acts, and each unfinished one fully or not at
   * all.
   */
  compare(reading: Reading): void
}

export function createLedger(): Ledger {
  const content = emptyContent()
  const lastUses: LastUses = new Map()
  let underWay: Changes | null = null
  /**
   * Failed acts that were not visible afterwards, since the last commit. A commit in the log that
   * could not be synchronized stays invisible until the log is read again, unless the next commit
   * overwrites it.
   */
  const failed: Changes[] = []

  const ledger: Ledger = {
    acknowledged: 0,
    claims: 0,
    cutOff: 0,
    doneUnacknowledged: 0,

    take(line) {
      switch (line.line) {
        case 'opened':
          ledger.compare(line.reading)
          failed.length = 0
          return
        case 'looked': {
          const before = underWay
          const doneBefore = ledger.doneUnacknowledged
          ledger.compare(line.reading)
          if (before !== null && ledger.doneUnacknowledged === doneBefore) failed.push(before)
          return
        }
        case 'begun':
          underWay = line.changes
          return
        case 'done':
          apply(content, underWay!)
          // A refused act commits nothing, so it overwrites nothing.
          if (Object.keys(underWay!).length > 0) failed.length = 0
          underWay = null
          ledger.acknowledged += 1
          return
        case 'granted':
          takeUse(lastUses, line)
          ledger.claims += 1
      }
    },

    compare(reading) {
      assert.equal(reading.damage, null)
      const lost = differences(content, reading.content)
      if (underWay !== null) ledger.cutOff += 1
      if (lost.length > 0) {
        const unfinished = [...(underWay === null ? [] : [underWay]), ...failed]
        const done = unfinished.find((changes) => leadsTo(reading.content, content, changes))
        assert.ok(
          done !== undefined,
          `the content differs from what was acknowledged: ${lost.slice(0, 5).join('; ')}`,
        )
        apply(content, done)
        ledger.doneUnacknowledged += 1
      }
      underWay = null
      if (reading.lastUses === null) return
      for (const [apiKeyId, { at }] of lastUses)
        assert.ok((reading.lastUses[apiKeyId] ?? 0) >= at, `the last use of ${apiKeyId} is lost`)
    },
  }
  return ledger
}

/** The last granted claim of each key. */
type LastUses = Map<string, { t0: number; at: number }>

function takeUse(lastUses: LastUses, use: Extract<Line, { line: 'granted' }>): void {
  const { apiKeyId, t0, t1, at } = use
  const before = lastUses.get(apiKeyId)
  assert.ok(
    before === undefined || t1 - before.t0 >= CLAIM_INTERVAL_US,
    `${apiKeyId} was used twice within ${t1 - (before?.t0 ?? 0)} µs`,
  )
  lastUses.set(apiKeyId, { t0, at })
}

/** True if the changes turn `before` into `found`. */
function leadsTo(found: Content, before: Content, changes: Changes): boolean {
  const after = structuredClone(before)
  apply(after, changes)
  return differences(after, found).length === 0
}

function differences(wanted: Content, found: Content): string[] {
  const tables = Object.keys(wanted) as (keyof Content)[]
  return tables.flatMap((table) => {
    const before: Record<string, unknown> = wanted[table]
    const after: Record<string, unknown> = found[table]
    return Object.keys({ ...before, ...after }).flatMap((name) =>
      isDeepStrictEqual(before[name], after[name])
        ? []
        : [`${table} ${name}: ${say(after[name])}, acknowledged: ${say(before[name])}`],
    )
  })
}

function say(row: unknown): string {
  return row === undefined ? 'not there' : JSON.stringify(row)
}
