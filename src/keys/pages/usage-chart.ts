import { html, raw } from 'hono/html'
import { DAY_US, HOUR_US, MINUTE_US } from '../../model/instant.ts'
import { SLOT_LENGTH_US, type UsageCount } from '../../model/usage-counts.ts'
import { count } from '../../model/text.ts'
import type { Html } from '../../web/html/text.ts'

const KINDS = ['answered', 'limited', 'revoked'] as const
type Kind = (typeof KINDS)[number]
type Sums = Record<Kind, number>

export const SLOTS_SHOWN = DAY_US / SLOT_LENGTH_US
/** Hours that the chart covers, and the hours below its marks. */
const HOURS = (SLOTS_SHOWN * SLOT_LENGTH_US) / HOUR_US
const SLOT_MINUTES = SLOT_LENGTH_US / MINUTE_US
const MARKS = [`${HOURS} h ago`, '18 h', '12 h', '6 h', 'now']
const HEIGHT = 56
const BAR = 2
/** Even one request must be visible, although the area below covers half a pixel of it. */
const SEGMENT_MIN = 3
/** The share of 429s from which the chart advises to slow down. */
const LIMITED_SHARE_MIN = 0.01

/** A chart with one bar per slot of the last 24 hours, up to `slot`, and its sums in words. */
export function showUsageChart(counts: readonly UsageCount[], slot: number): Html {
  const bars = barsOf(counts, slot)
  const peak = Math.max(...bars.map(totalOf))
  if (peak === 0) return html`<p class="hint">No requests in the last ${HOURS} hours.</p>`
  const width = SLOTS_SHOWN * BAR
  return html`<figure><div class="chart"><div class="y" aria-hidden="true"><span>${count(peak)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Requests per ${SLOT_MINUTES} minutes in the last ${HOURS} hours, at most ${count(peak)}">
<path class="half" d="M0 ${HEIGHT / 2}h${width}"/>${raw(drawBars(bars, peak))}</svg>
<div class="x" aria-hidden="true">${MARKS.map((mark) => html`<span>${mark}</span>`)}</div></div>
${showLegend(sumOf(bars))}</figure>`
}

/** Each number stands once, for screen readers, and zeros are left out. */
function showLegend(sums: Sums): Html {
  const { answered, limited, revoked } = sums
  const share = limited / totalOf(sums)
  return html`<figcaption class="legend">${showSum('answered', answered, 'answered')}${showSum(
    'limited',
    limited,
    share < LIMITED_SHARE_MIN
      ? 'rate-limited (429)'
      : html`rate-limited (429), ${Math.round(share * 100)}%: <a href="/docs#the-rate-limit">slow down to one request per second</a>`,
  )}${showSum('revoked', revoked, 'refused after deletion (401)')}</figcaption>`
}

function showSum(kind: Kind, sum: number, text: Html | string): Html | '' {
  return sum === 0 ? '' : html`<span class="key ${kind}"><b>${count(sum)}</b> ${text}</span> `
}

function barsOf(counts: readonly UsageCount[], slot: number): Sums[] {
  const bars = Array.from({ length: SLOTS_SHOWN }, () => ({ answered: 0, limited: 0, revoked: 0 }))
  for (const count of counts) {
    const bar = bars[SLOTS_SHOWN - 1 - (slot - count.slot)]
    if (bar !== undefined) for (const kind of KINDS) bar[kind] += count[kind]
  }
  return bars
}

function sumOf(all: readonly Sums[]): Sums {
  const sums = { answered: 0, limited: 0, revoked: 0 }
  for (const one of all) for (const kind of KINDS) sums[kind] += one[kind]
  return sums
}

function totalOf({ answered, limited, revoked }: Sums): number {
  return answered + limited + revoked
}

/** One path per kind, stacked back to front, so that each shows only its own share. */
function drawBars(bars: readonly Sums[], peak: number): string {
  const heights = bars.map((bar) => heightsOf(bar, peak))
  const tops = bars.map(() => HEIGHT)
  const areas: string[] = []
  for (const [kind, name] of KINDS.entries()) {
    if (heights.every((bar) => bar[kind] === 0)) continue
    for (const [index, bar] of heights.entries()) tops[index]! -= bar[kind]!
    areas.unshift(`<path class="${name}" d="${outlineOf(tops)}"/>`)
  }
  return areas.join('')
}

/** The heights of a bar's segments. They fit into the chart although small ones are rounded up. */
function heightsOf(bar: Sums, peak: number): number[] {
  const heights = KINDS.map((kind) =>
    bar[kind] === 0 ? 0 : Math.max(SEGMENT_MIN, Math.round((bar[kind] / peak) * HEIGHT)),
  )
  const above = heights.reduce((sum, height) => sum + height, -HEIGHT)
  if (above > 0) heights[heights.indexOf(Math.max(...heights))]! -= above
  return heights
}

/** The outline of an area; neighboring bars of one height share a step. */
function outlineOf(tops: readonly number[]): string {
  let path = `M0 ${HEIGHT}`
  let width = 0
  for (const [index, top] of tops.entries()) {
    if (index === 0 || top !== tops[index - 1]) {
      if (width > 0) path += `h${width}`
      path += `V${top}`
      width = 0
    }
    width += BAR
  }
  return `${path}h${width}V${HEIGHT}z`
}
