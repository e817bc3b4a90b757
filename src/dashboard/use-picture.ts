import { html, raw } from 'hono/html'
import { SLOTS_SHOWN, type UseCount } from '../listing/use-counts.ts'
import type { Html } from './page.ts'

const KINDS = ['answered', 'limited', 'revoked'] as const
type Kind = (typeof KINDS)[number]
type Sums = Record<Kind, number>

const HEIGHT = 36
const BAR = 2

/** A bar for every ten minutes of the last 24 hours, which ends with `slot`; with the same in words. */
export function showUsePicture(counts: readonly UseCount[], slot: number): Html {
  const sums = sumsOf(counts)
  const total = sums.answered + sums.limited + sums.revoked
  if (total === 0) return html`<p class="hint">No requests in the last 24 hours.</p>`
  const words = `${sums.answered} answered (200), ${sums.limited} too soon (429), ${sums.revoked} refused as deleted (401)`
  const width = SLOTS_SHOWN * BAR
  return html`<figure>
<svg class="use" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img"
 aria-label="Requests in the last 24 hours: ${words}">
${raw(drawBars(counts, slot))}
</svg>
<figcaption>Last 24 hours:
<span class="key answered">${sums.answered} answered</span>
<span class="key limited">${sums.limited} too soon (429)</span>
<span class="key revoked">${sums.revoked} refused (401)</span>
</figcaption>
</figure>`
}

function sumsOf(counts: readonly UseCount[]): Sums {
  const sums = { answered: 0, limited: 0, revoked: 0 }
  for (const count of counts) for (const kind of KINDS) sums[kind] += count[kind]
  return sums
}

/** An area for each kind, of numbers alone, the higher ones behind: what is seen of each is its own part. */
function drawBars(counts: readonly UseCount[], slot: number): string {
  const bars = Array.from({ length: SLOTS_SHOWN }, () => ({ answered: 0, limited: 0, revoked: 0 }))
  for (const count of counts) {
    const bar = bars[SLOTS_SHOWN - 1 - (slot - count.slot)]
    if (bar !== undefined) for (const kind of KINDS) bar[kind] += count[kind]
  }
  const most = Math.max(
    1,
    ...bars.map(({ answered, limited, revoked }) => answered + limited + revoked),
  )
  const tops = bars.map(() => HEIGHT)
  const areas: string[] = []
  for (const kind of KINDS) {
    let isSeen = false
    for (const [index, bar] of bars.entries()) {
      if (bar[kind] === 0) continue
      isSeen = true
      // What happened at all is to be seen.
      tops[index]! -= Math.max(2, Math.round((bar[kind] / most) * (HEIGHT - 4)))
    }
    if (isSeen) areas.unshift(`<path class="${kind}" d="${outlineOf(tops)}"/>`)
  }
  return areas.join('')
}

/** The steps of an area above the ground, with one for bars of one height. */
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
