import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { change, get, history, incident, stamp } from '../record/hand-written.ts'
import { readHistory } from '../record/record.ts'
import { reportOn } from './report.ts'

/*
 * The report of a violation has its seed and the operations around it, and no others. The whole
 * record goes to a file.
 */

const FAULTS = new Map([['process killed', 2]])

test('a run without a violation reports what happened', () => {
  const operations = [get(0, 5, 200), get(10, 15, 429), get(20, 25, 0)]
  assert.deepEqual(
    reportOn('sqlite', 7, {
      history: history(operations, {
        stamps: [stamp(3)],
        lastUses: null,
        incidents: [incident(19, 24)],
      }),
      faults: FAULTS,
    })
      .summary.split('\n')
      .slice(1),
    [
      '  requests: 1 200, 1 429, 1 no answer',
      '  beside them: 1 change',
      "  in the store's record: 1 claim",
      '  faults: 2 process killed',
      '  a 429 would have been believed at 0 of 1 undisturbed 200s (0.0 %); a fault was on at 1 of 3 requests (33.3 %)',
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
  const incidents = [incident(0, 5), incident(9_400, 9_600, { key: 'k', fault: 'row locked' })]
  const record = history([...far, ...near], { incidents })
  const { summary, violation } = reportOn('sqlite', 7, { history: record, faults: FAULTS })
  assert.match(summary, /^sqlite, seed 7: 7 operations, 2 faults, .*violations: at least 1/)
  const lines = violation!.split('\n')
  const path = lines.at(-1)!.replace('all of it: ', '')
  t.after(() => rmSync(path))
  assert.deepEqual(readHistory(path), record)
  assert.match(lines[0]!, /^I1: two granted claims of k /)
  assert.deepEqual(lines.slice(3, -1), [
    'seed 7; the shortest history that shows it:',
    '  get k: 200 (v1), from 9000000 to 9005000 µs',
    '  get k: 200 (v1), from 9800000 to 9805000 µs',
    'around it:',
    '  get k: 200 (v1), from 9000000 to 9005000 µs',
    '  get k: 429, from 9500000 to 9505000 µs',
    '  get k: 200 (v1), from 9800000 to 9805000 µs',
    '  fault: row locked, k, from 9400000 to 9600000 µs, aftermath 0 µs',
  ])
})
