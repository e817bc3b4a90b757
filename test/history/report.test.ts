import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { change, get, history, stamp } from './hand-written.ts'
import { readHistory } from './record.ts'
import { reportOn } from './report.ts'

/*
 * A run that finds something says what, with its seed, the operations around it and no others, and keeps the record.
 */

const FAULTS = new Map([['process killed', 2]])

test('a run that finds nothing says what happened in it', () => {
  const operations = [get(0, 5, 200), get(10, 15, 429), get(20, 25, 0)]
  assert.deepEqual(
    reportOn('sqlite', 7, history(operations, { stamps: [stamp(3)], lastUses: null }), FAULTS)
      .summary.split('\n')
      .slice(1),
    [
      '  requests: 1 200, 1 429, 1 no answer',
      '  beside them: 1 change',
      "  in the store's record: 1 use",
      '  faults: 2 process killed',
    ],
  )
})

test('a violation comes with its seed, its surroundings and the whole record', (t) => {
  const near = [get(9_000, 9_005, 200), get(9_500, 9_505, 429), get(9_800, 9_805, 200)]
  const far = [
    get(0, 5, 200),
    get(9_600, 9_605, 200, { key: 'other' }),
    change(60_000, 60_005, 'v2'),
  ]
  const record = history([...far, ...near])
  const { summary, violation } = reportOn('sqlite', 7, record, FAULTS)
  assert.match(summary, /^sqlite, seed 7: 7 operations, 2 faults, .*violations: at least 1/)
  const lines = violation!.split('\n')
  const path = lines.at(-1)!.replace('all of it: ', '')
  t.after(() => rmSync(path))
  assert.deepEqual(readHistory(path), record)
  assert.match(lines[0]!, /^I1: two uses of k /)
  assert.deepEqual(lines.slice(3, -1), [
    'seed 7; the shortest history that shows it:',
    '  get k: 200 (v1), from 9000000 to 9005000 µs',
    '  get k: 200 (v1), from 9800000 to 9805000 µs',
    'around it:',
    '  get k: 200 (v1), from 9000000 to 9005000 µs',
    '  get k: 429, from 9500000 to 9505000 µs',
    '  get k: 200 (v1), from 9800000 to 9805000 µs',
  ])
})
