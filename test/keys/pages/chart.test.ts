import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agoInWords } from '../../../src/web/html/relative-time.ts'
import { showUsageChart } from '../../../src/keys/pages/usage-chart.ts'
import { DAY_US, HOUR_US, MINUTE_US } from '../../../src/model/instant.ts'
import type { UsageCount } from '../../../src/model/usage-counts.ts'

/*
 * What a usage chart shows, and times in words.
 */

const SLOT = 3_000_000

const count = (ago: number, answered: number, limited = 0, revoked = 0): UsageCount => ({
  api_key_id: 'any',
  slot: SLOT - ago,
  answered,
  limited,
  revoked,
})

const chartOf = async (...counts: UsageCount[]) => String(await showUsageChart(counts, SLOT))

test('a chart has its peak, zero, the hours, a line at half and sums with separators', async () => {
  const chart = await chartOf(count(0, 1_234), count(6, 26_642), count(143, 1))
  assert.match(chart, /<div class="y" aria-hidden="true"><span>26,642<\/span><span>0<\/span>/)
  const hours = [...chart.matchAll(/<span>([^<]*)<\/span>/g)].map(([, text]) => text).slice(2)
  assert.deepEqual(hours, ['24 h ago', '18 h', '12 h', '6 h', 'now'])
  assert.match(chart, /<path class="half" d="M0 28h288"\/>/)
  assert.match(chart, /<b>27,877<\/b> answered</)
})

test('the chart shows each total once and no zeros', async () => {
  const chart = await chartOf(count(0, 3))
  assert.equal(chart.split('3</b>').length, 2)
  assert.doesNotMatch(chart, /rate-limited|refused/)
})

test('from one percent of 429s on, the chart tells the share and what to do', async () => {
  const advice = /slow down to one request per second/
  assert.doesNotMatch(await chartOf(count(0, 992, 8)), advice)
  assert.match(
    await chartOf(count(0, 990, 10)),
    /<b>10<\/b> rate-limited \(429\), 1%: <a[^>]*>slow down/,
  )
  assert.match(await chartOf(count(0, 0, 5)), /100%: <a[^>]*>slow down/)
})

test('one request is visible beside a million, and no bar is higher than the peak', async () => {
  const chart = await chartOf(count(0, 1_000_000, 1, 1), count(1, 1))
  const tops = (kind: string) =>
    new RegExp(`class="${kind}" d="M0 56V56h284V(\\d+)h2V(\\d+)h2`).exec(chart)?.slice(1)
  assert.deepEqual(tops('answered'), ['53', '6'])
  assert.deepEqual(/class="limited" d="M0 56V56h284V53h2V3h2/.test(chart), true)
  assert.deepEqual(tops('revoked'), ['53', '0'])
})

test('counts outside the last 24 hours are not drawn', async () => {
  assert.match(await chartOf(count(144, 5), count(-1, 5)), /No requests in the last 24 hours/)
})

test('a time is told in words that a reader need not convert', () => {
  const now = Date.UTC(2026, 10, 22, 12) * 1_000
  for (const [span, words] of [
    [0, 'just now'],
    [MINUTE_US - 1, 'just now'],
    [1 - MINUTE_US, 'just now'],
    [MINUTE_US, '1 minute ago'],
    [59 * MINUTE_US, '59 minutes ago'],
    [HOUR_US, '1 hour ago'],
    [DAY_US - 1, '23 hours ago'],
    [DAY_US, '1 day ago'],
    [30 * DAY_US, '30 days ago'],
    [31 * DAY_US, 'Oct 22, 2026'],
    [-DAY_US, 'Nov 23, 2026'],
  ] as const)
    assert.equal(agoInWords(now - span, now), words)
})
