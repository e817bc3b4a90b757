/*
 * Two kinds of charts as SVG text. They need no script and no font, and follow the reader's light
 * or dark setting. Series differ in brightness or dash as well as in color.
 */

export interface BarChart {
  title: string
  /** What the values count, such as µs. */
  unit: string
  /** The parts of a bar follow each other from the left. */
  bars: readonly { label: string; parts: readonly { name: string; value: number }[] }[]
}

export interface LineChart {
  title: string
  xLabel: string
  /** The y axis is logarithmic. */
  yLabel: string
  lines: readonly { name: string; points: readonly (readonly [x: number, y: number])[] }[]
}

const WIDTH = 720
/** The least width of the column of labels, and the width of a character in wide fonts. */
const LABELS_MIN = 190
const CHARACTER = 7.8
const BAR = 26
const STEP = 38
const TOP = 46
const PLOT_HEIGHT = 260
const COLORS = ['a', 'b', 'c', 'd'] as const
const DASHES = ['', '6 4', '2 3', '10 3 2 3']

const STYLE = `text{font:13px system-ui,sans-serif;fill:#1c2430}.t{font-weight:600;font-size:15px}.m{fill:#5b6675}
.a{fill:#1f5fbf;stroke:#1f5fbf}.b{fill:#7fb0f0;stroke:#7fb0f0}.c{fill:#0b2d5e;stroke:#0b2d5e}.d{fill:#c3d7f2;stroke:#c3d7f2}
.g{stroke:#c9d1db}@media(prefers-color-scheme:dark){text{fill:#e6ebf2}.m{fill:#9aa7b8}.c{fill:#dbe8fb;stroke:#dbe8fb}.g{stroke:#3a4554}}`

export function barChart({ title, unit, bars }: BarChart): string {
  const longest = Math.max(...bars.map(({ parts }) => sum(parts)))
  const characters = Math.max(...bars.map(({ label }) => label.length))
  const left = Math.max(LABELS_MIN, Math.ceil(CHARACTER * characters) + 10)
  const scale = (WIDTH - left - 110) / longest
  const names = namesOf(bars)
  const rows = bars.map(({ label, parts }, row) => {
    const y = TOP + row * STEP
    let x = left
    const drawn = parts.map(({ name, value }) => {
      const width = value * scale
      const part = `<rect class="${COLORS[names.indexOf(name)]}" x="${n(x)}" y="${y}" width="${n(width)}" height="${BAR}"/>`
      x += width
      return part
    })
    const total = `<text class="m" x="${n(x + 8)}" y="${y + 18}">${shown(sum(parts))} ${unit}</text>`
    return `<text x="${left - 10}" y="${y + 18}" text-anchor="end">${escaped(label)}</text>${drawn.join('')}${total}`
  })
  const bottom = TOP + bars.length * STEP
  const legend = names.length > 1 ? legendOf(names, bottom + 14, false) : ''
  return framed(title, bottom + (legend === '' ? 4 : 34), rows.join('\n') + legend)
}

export function lineChart({ title, xLabel, yLabel, lines }: LineChart): string {
  const all = lines.flatMap(({ points }) => points)
  const [low, high] = decades(all.map(([, y]) => y))
  const [left, right] = [70, WIDTH - 30]
  const xs = all.map(([x]) => x)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const atX = (x: number) => left + ((x - first) / (last - first || 1)) * (right - left)
  const atY = (y: number) =>
    TOP + PLOT_HEIGHT * (1 - (Math.log10(y) - low) / Math.max(1, high - low))
  const grid = Array.from({ length: high - low + 1 }, (_, step) => {
    const y = n(atY(10 ** (low + step)))
    return `<line class="g" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/><text class="m" x="${left - 8}" y="${y + 4}" text-anchor="end">${shown(10 ** (low + step))}</text>`
  })
  const ticks = [...new Set(xs)].map(
    (x) =>
      `<text class="m" x="${n(atX(x))}" y="${TOP + PLOT_HEIGHT + 20}" text-anchor="middle">${x.toLocaleString('en')}</text>`,
  )
  const drawn = lines.map(({ points }, index) => {
    const path = points.map(([x, y]) => `${n(atX(x))},${n(atY(y))}`).join(' ')
    return `<polyline class="${COLORS[index]}" style="fill:none" stroke-width="2.5" stroke-dasharray="${DASHES[index]}" points="${path}"/>`
  })
  const bottom = TOP + PLOT_HEIGHT + 42
  const axes = `<text class="m" x="${n((left + right) / 2)}" y="${bottom}" text-anchor="middle">${escaped(xLabel)}</text><text class="m" x="${left - 50}" y="${TOP - 10}">${escaped(yLabel)}</text>`
  const names = lines.map(({ name }) => name)
  const legend = legendOf(names, bottom + 16, true)
  return framed(title, bottom + 40, [...grid, ...ticks, ...drawn, axes, legend].join('\n'))
}

function legendOf(names: readonly string[], y: number, isLine: boolean): string {
  const width = (WIDTH - 40) / names.length
  return names
    .map((name, index) => {
      const x = n(24 + index * width)
      const mark = isLine
        ? `<line class="${COLORS[index]}" stroke-width="2.5" stroke-dasharray="${DASHES[index]}" x1="${x}" x2="${n(x + 26)}" y1="${y + 5}" y2="${y + 5}"/>`
        : `<rect class="${COLORS[index]}" x="${x}" y="${y - 1}" width="14" height="12"/>`
      return `${mark}<text x="${n(x + (isLine ? 33 : 20))}" y="${y + 10}">${escaped(name)}</text>`
    })
    .join('')
}

function framed(title: string, height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}</style>
<text class="t" x="24" y="24">${escaped(title)}</text>
${content}
</svg>
`
}

function namesOf(bars: BarChart['bars']): string[] {
  return [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))]
}

/** The exponents of ten around the values. */
function decades(values: readonly number[]): [low: number, high: number] {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))]
}

function sum(parts: readonly { value: number }[]): number {
  return parts.reduce((total, { value }) => total + value, 0)
}

function shown(value: number): string {
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

/** A coordinate, without digits that a screen can't show. */
function n(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
