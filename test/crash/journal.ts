import assert from 'node:assert/strict'
import { USE_INTERVAL } from '../../src/listing/api-key.ts'
import { apply, type Changes, type Content, type Reading } from './content.ts'

/** What a writer says. `begun` and `done` are about one act; a use is said when it was acknowledged. */
export type Line =
  | { line: 'opening' }
  | { line: 'opened'; reading: Reading }
  | { line: 'begun'; changes: Changes }
  | { line: 'done' }
  /** Asked for at `t0`, acknowledged by `t1`, in microseconds of the clock that nobody can set; `at`, of the wall's. */
  | { line: 'used'; apiKeyId: string; t0: number; t1: number; at: number }
  /** The store could not do it: if it was what was begun, it may have been done or not. */
  | { line: 'failed'; reason: string }

/** Everything that the writers of one database have said, and what therefore has to be in it. */
export interface Ledger {
  take(line: Line): void
  acknowledged: number
  uses: number
  /** Acts that were cut off, and how many of them were done all the same. */
  cutOff: number
  doneUnheard: number
  /** Throws unless the database holds what was acknowledged, and of what was under way all or nothing. */
  compare(reading: Reading): void
}

export function createLedger(): Ledger {
  const content: Content = {}
  const lastUses = new Map<string, { t0: number; at: number }>()
  let underWay: Changes | null = null

  const ledger: Ledger = {
    acknowledged: 0,
    uses: 0,
    cutOff: 0,
    doneUnheard: 0,

    take(line) {
      switch (line.line) {
        case 'opened':
          return ledger.compare(line.reading)
        case 'begun':
          underWay = line.changes
          return
        case 'done':
          apply(content, underWay!)
          underWay = null
          ledger.acknowledged += 1
          return
        case 'used': {
          const { apiKeyId, t0, t1, at } = line
          const before = lastUses.get(apiKeyId)
          assert.ok(
            before === undefined || t1 - before.t0 >= USE_INTERVAL,
            `${apiKeyId} was used twice within ${t1 - (before?.t0 ?? 0)} µs`,
          )
          lastUses.set(apiKeyId, { t0, at })
          ledger.uses += 1
        }
      }
    },

    compare(reading) {
      assert.equal(reading.damage, null)
      const withAll = { ...content }
      apply(withAll, underWay ?? {})
      const lost = differences(content, reading.content)
      const isWhole = lost.length === 0 || differences(withAll, reading.content).length === 0
      assert.ok(isWhole, `not what was acknowledged: ${lost.slice(0, 5).join('; ')}`)
      if (underWay !== null) ledger.cutOff += 1
      if (lost.length > 0) {
        apply(content, underWay!)
        ledger.doneUnheard += 1
      }
      underWay = null
      if (reading.lastUses === null) return
      for (const [apiKeyId, { at }] of lastUses)
        assert.ok((reading.lastUses[apiKeyId] ?? 0) >= at, `the last use of ${apiKeyId} is lost`)
    },
  }
  return ledger
}

function differences(wanted: Content, found: Content): string[] {
  return [...new Set([...Object.keys(wanted), ...Object.keys(found)])].flatMap((name) =>
    wanted[name] === found[name]
      ? []
      : [`${name}: ${found[name] ?? 'not there'}, acknowledged: ${wanted[name] ?? 'not there'}`],
  )
}
