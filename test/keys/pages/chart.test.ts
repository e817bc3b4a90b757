import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agoInWords } from '../../../src/web/html/relative-time.ts'
import { showUsageChart } from '../../../src/keys/pages/usage/usage-chart.ts'
import { DAY_US, formatInstant, HOUR_US, MINUTE_US } from '../../../src/model/instant.ts'
import { slotOf, type UsageCount } from '../../../src/model/usage-counts.ts'
import {
  firstSlotOf,
  LAST_DAY,
  SPANS,
  type UsageSpan,
} from '../../../src/keys/pages/usage/usage-span.ts'
import { usageOf } from '../../../src/keys/pages/usage/usage-sums.ts'

/*
 * What a usage chart shows, and times in words.
 */

/** The first ten minutes of an hour: 2027-01-15 08:00 UTC. */
const NOW = 1_800_000_000_000_000
const SLOT = slotOf(NOW)

const count = (ago: number, answered: number, limited = 0, revoked = 0): UsageCount => ({
  api_key_id: 'any',
  slot: SLOT - ago,
  answered,
  limited,
  revoked,
})

const chartIn = async (span: UsageSpan, counts: UsageCount[], now = NOW) =>
  String(await showUsageChart(usageOf(counts, span, now)))
const chartOf = (...counts: UsageCount[]) => chartIn(LAST_DAY, counts)

/** The beginning of the first bar, and the values of the bars, by their number from the end. */
function barsOf(span: UsageSpan, counts: UsageCount[], now = NOW) {
  const { from, bars } = usageOf(counts, span, now)
  const values = bars
    .toReversed()
    .map(({ answered, limited, revoked }) => [answered, limited, revoked].join(','))
  return {
    from: formatInstant(from).slice(0, 16),
    bars: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '0,0,0')),
  }
}

test('a chart has its peak, zero, the hours, a line at half and sums with separators', async () => {
  const chart = await chartOf(count(0, 1_234), count(6, 26_642), count(143, 1))
  assert.match(chart, /<div class="y" aria-hidden="true"><span>26,642<\/span><span>0<\/span>/)
  assert.match(chart, /<span>24 h ago<\/span><span>12 h ago<\/span><span>now<\/span>/)
  assert.match(chart, /<path class="half" d="M0 28h144"\/>/)
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
    new RegExp(`class="${kind}" d="M0 56V56h142V(\\d+)h1V(\\d+)h1`).exec(chart)?.slice(1)
  assert.deepEqual(tops('answered'), ['53', '6'])
  assert.deepEqual(/class="limited" d="M0 56V56h142V53h1V3h1/.test(chart), true)
  assert.deepEqual(tops('revoked'), ['53', '0'])
})

test('24 hours have a bar for each ten minutes', () => {
  const counts = [count(0, 12, 3), count(1, 0, 0, 7), count(1, 1), count(143, 5)]
  const bars = { 0: '12,3,0', 1: '1,0,7', 143: '5,0,0' }
  assert.deepEqual(barsOf(LAST_DAY, counts), { from: '2027-01-14T08:10', bars })
})

test('counts outside the span are not drawn', async () => {
  for (const span of SPANS) {
    const slots = SLOT + 6 - firstSlotOf(span, NOW)
    const outside = await chartIn(span, [count(slots, 5), count(-6, 5)])
    assert.match(outside, new RegExp(`No requests in the last ${span.inWords}`))
  }
})

test('7 days have a bar for each two hours, of ten-minute counts and of rolled-up ones', () => {
  const counts = [count(0, 1), count(1, 2), count(6, 4), count(7, 8), count(600, 16)]
  const late = NOW + 59 * MINUTE_US
  for (const now of [NOW, late])
    assert.deepEqual(barsOf(SPANS[1]!, counts, now), {
      from: '2027-01-08T09:00',
      bars: { 0: '7,0,0', 1: '8,0,0', 50: '16,0,0' },
    })
})

test('30 days have a bar for each 24 hours up to the end of this hour', () => {
  const counts = [count(0, 1), count(138, 2), count(139, 4), count(4_314, 8)]
  for (const now of [NOW, NOW + 59 * MINUTE_US])
    assert.deepEqual(barsOf(SPANS[2]!, counts, now), {
      from: '2026-12-16T09:00',
      bars: { 0: '3,0,0', 1: '4,0,0', 29: '8,0,0' },
    })
})

/** The sentence below a chart, without its elements. */
async function busiest(span: UsageSpan, counts: UsageCount[]): Promise<string> {
  const [, said = ''] = /<span class="said">(.*?)<\/span>/s.exec(await chartIn(span, counts))!
  return said.replace(/<[^>]*>/g, '')
}

test('a sentence tells when most requests came, and how many, in the largest fitting unit', async () => {
  assert.equal(
    await busiest(LAST_DAY, [count(0, 9), count(84, 300, 420), count(85, 600)]),
    'Busiest at 18:00 UTC: 1.2 requests a second.',
  )
  assert.equal(
    await busiest(LAST_DAY, [count(1, 20)]),
    'Busiest at 07:50 UTC: 2 requests a minute.',
  )
  assert.equal(
    await busiest(LAST_DAY, [count(1, 9)]),
    'Busiest at 07:50 UTC: 9 requests in 10 minutes.',
  )
  for (const span of SPANS.slice(1))
    assert.equal(
      await busiest(span, [count(0, 100), count(84, 1_800), count(83, 1_800), count(600, 3_500)]),
      'Busiest hour: 2027-01-14 18:00 UTC, 1 request a second.',
    )
  assert.equal(
    await busiest(SPANS[2]!, [count(4_000, 1)]),
    'Busiest hour: 2026-12-18 13:00 UTC, 1 request in an hour.',
  )
})

test('30 days of a key with requests and 429s at all times take less than 1 kB', async (t) => {
  const counts = Array.from({ length: 4_320 }, (_, ago) =>
    count(ago, 1_000 + ((ago * 7_919) % 2_000), (ago * 31) % 90),
  )
  for (const [span, bytesMax] of [
    [SPANS[0]!, 2_500],
    [SPANS[1]!, 2_000],
    [SPANS[2]!, 1_000],
  ] as const) {
    const chart = await chartIn(span, counts)
    t.diagnostic(`${span.label}: ${chart.length} bytes`)
    assert.ok(chart.length < bytesMax, `${span.label}: ${chart.length} bytes`)
  }
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
