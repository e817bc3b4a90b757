import { html, raw } from 'hono/html'
import { formatInstant, HOUR_US, type Instant, MINUTE_US } from '../../../model/instant.ts'
import { SLOT_LENGTH_US } from '../../../model/usage-counts.ts'
import { count, countOf } from '../../../model/text.ts'
import { CHART_SCRIPT_PATH, KEYS_STYLE_PATH } from '../../../web/html/assets.ts'
import { type Html, showInstant } from '../../../web/html/text.ts'
import { type Kind, KINDS, type Sums, totalOf, type Usage } from './usage-sums.ts'
import type { UsageSpan } from './usage-span.ts'

/** What the pages of keys load besides. Stands before what it is for. */
export const CHART_ASSETS = html`<link rel="stylesheet" href="${KEYS_STYLE_PATH}"><script src="${CHART_SCRIPT_PATH}" defer></script>`

const HEIGHT = 56
/** Even one request must be visible, although the area below covers half a pixel of it. */
const SEGMENT_MIN = 3
/** The share of 429s from which the chart advises to slow down. */
const LIMITED_SHARE_MIN = 0.01

/**
 * A chart with one bar per part of the span, its sums in words, and when most requests came. The
 * script shows the values of a bar, which it reads from the page that lists them: the one to which
 * `values` leads, or this page.
 */
export function showUsageChart(usage: Usage, values: Html | '' = ''): Html {
  const { span, from, bars, sums } = usage
  const peak = Math.max(...bars.map(totalOf))
  if (peak === 0) return html`<p class="hint">No requests in the last ${span.inWords}.</p>`
  const label = `Requests per ${span.bar} in the last ${span.inWords}, at most ${count(peak)}`
  return html`<figure><div class="chart" data-from="${from / MINUTE_US}" data-minutes="${minutesOf(span)}"><div class="y" aria-hidden="true"><span>${count(peak)}</span><span>0</span></div>
<svg viewBox="0 0 ${span.bars} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">
<path class="half" d="M0 ${HEIGHT / 2}h${span.bars}"/>${raw(drawBars(bars, peak))}</svg>
<div class="x" aria-hidden="true">${span.marks.map((mark) => html`<span>${mark}</span>`)}</div></div>
<figcaption class="legend">${showLegend(sums)}<span class="said">${showPeak(usage)}${values === '' ? '' : html` ${values}`}</span></figcaption></figure>`
}

function minutesOf({ slotsPerBar }: UsageSpan): number {
  return (slotsPerBar * SLOT_LENGTH_US) / MINUTE_US
}

/** Each number stands once, for screen readers, and zeros are left out. */
function showLegend(sums: Sums): Html {
  const { answered, limited, revoked } = sums
  const share = limited / totalOf(sums)
  return html`${showSum('answered', answered, 'answered')}${showSum(
    'limited',
    limited,
    share < LIMITED_SHARE_MIN
      ? 'rate-limited (429)'
      : html`rate-limited (429), ${Math.round(share * 100)}%: <a href="/docs#the-rate-limit">slow down to one request per second</a>`,
  )}${showSum('revoked', revoked, 'refused after deletion (401)')}`
}

function showSum(kind: Kind, sum: number, text: Html | string): Html | '' {
  return sum === 0 ? '' : html`<span class="key ${kind}"><b>${count(sum)}</b> ${text}</span> `
}

/** Such as "Busiest at 18:00 UTC: 1.2 requests a second." The script writes the local time. */
function showPeak({ span, peak }: Usage): Html {
  const length = span.slotsPerPeak * SLOT_LENGTH_US
  const rate = rateOf(peak.requests, length)
  return length < HOUR_US
    ? html`Busiest at ${showClock(peak.at)}: ${rate}.`
    : html`Busiest hour: ${showInstant(peak.at)}, ${rate}.`
}

/** The time of day. Within 24 hours it needs no date. */
function showClock(instant: Instant): Html {
  const exact = formatInstant(instant)
  return html`<time datetime="${exact.slice(0, 19)}Z">${exact.slice(11, 16)} UTC</time>`
}

/** Requests in a span, in the largest unit that has at least one. */
function rateOf(requests: number, span: number): string {
  const perMinute = (requests * MINUTE_US) / span
  if (perMinute >= 60) return `${perUnit(perMinute / 60)} a second`
  if (perMinute >= 1) return `${perUnit(perMinute)} a minute`
  const length = span === HOUR_US ? 'an hour' : `${span / MINUTE_US} minutes`
  return `${countOf(requests, 'request')} in ${length}`
}

/** Rounds to one decimal. */
function perUnit(rate: number): string {
  return countOf(Math.round(rate * 10) / 10, 'request')
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
    width += 1
  }
  return `${path}h${width}V${HEIGHT}z`
}
