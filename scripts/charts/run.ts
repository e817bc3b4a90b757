import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, type Results } from '../../bench/results.ts'
import { median } from '../../bench/rounds.ts'
import type { Table } from '../../bench/table.ts'
import { tableOfResults } from './results-table.ts'
import { barChart, lineChart } from './svg.ts'

/*
 * Draws the pictures of docs/performance.md from the last whole runs of the benchmark, and writes
 * their results into it. A picture stays if its suite has no file in bench/results/.
 */

const PAGE = join(import.meta.dirname, '../../docs/performance.md')
const PICTURES = join(import.meta.dirname, '../../docs/performance')
/** The results follow this line, to the end of the page. */
const MARK = '<!-- npm run charts writes what follows. -->'

const DRAWN: Record<string, (results: Results) => Record<string, string>> = {
  sqlite: (results) => ({ answers: drawAnswers(results), latency: drawLatency(results) }),
  peers: (results) => ({ peers: drawPeers(results) }),
  growth: (results) => ({ growth: drawGrowth(results) }),
}

mkdirSync(PICTURES, { recursive: true })
const all = readdirSync(FOLDER)
  .toSorted()
  .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Results)
for (const results of all)
  for (const [name, svg] of Object.entries(DRAWN[results.suite]?.(results) ?? {}))
    writeFileSync(join(PICTURES, `${name}.svg`), svg)
const [prose = ''] = readFileSync(PAGE, 'utf8').split(MARK)
writeFileSync(PAGE, `${[prose + MARK, ...all.map(tableOfResults)].join('\n\n')}\n`)

/** Each kind of answer does what the one before does, and more. The difference is the cost. */
function drawAnswers(results: Results): string {
  const medians = mediansOf(tableOf(results, 'µs of CPU time for an answer'))
  const front = medians['malformed key, 401']!
  const judged = medians['busy key, 429']!
  const granted = medians['granted, 200']!
  return barChart({
    title: 'Where each microsecond goes',
    unit: 'µs',
    bars: [
      {
        label: 'this service',
        parts: [
          { name: 'reading and answering', value: front },
          { name: 'finding and judging the key', value: judged - front },
          { name: 'stamp, commit, listing', value: granted - judged },
        ],
      },
      {
        label: 'bare node:http',
        parts: [{ name: 'reading and answering', value: medians.bare! }],
      },
    ],
  })
}

function drawLatency(results: Results): string {
  const loads = results.tables.flatMap((table) => {
    const share = /^latency at (\d+) %/.exec(table.title)?.[1]
    return share === undefined ? [] : [{ share: Number(share), medians: mediansOf(table) }]
  })
  const line = (name: string, column: string) => ({
    name,
    points: loads.map(({ share, medians }) => [share, medians[column]!] as const),
  })
  return lineChart({
    title: 'Latency against load',
    xLabel: 'load in % of the peak rate of the service',
    yLabel: 'ms',
    lines: [
      line('service, p99', 'p99'),
      line('bare node:http, p99', 'bare p99'),
      line('service, p50', 'p50'),
      line('bare node:http, p50', 'bare p50'),
    ],
  })
}

function drawPeers(results: Results): string {
  const perSecond = mediansOf(tableOf(results, '200s per CPU second'))
  return barChart({
    title: 'CPU time of a 200',
    unit: 'µs',
    bars: Object.entries(perSecond).map(([label, value]) => ({
      label,
      parts: [{ name: 'CPU time', value: 1e6 / value }],
    })),
  })
}

/** A bar for each size of a file or of an owner. */
function drawGrowth({ tables }: Results): string {
  const bars = tables.flatMap((table) => {
    const measured = /^CPU time per request in µs, (.+?), under /.exec(table.title)?.[1]
    if (measured === undefined) return []
    return Object.entries(mediansOf(table))
      .filter(([column]) => column.startsWith('of '))
      .map(([column, value]) => {
        const size = Number(column.replaceAll(/\D/g, '')).toLocaleString('en')
        const keys = /^(\d+) keys in use$/.exec(measured)?.[1]
        const label =
          keys === undefined
            ? `${size} servers, ${measured}`
            : `${Number(keys).toLocaleString('en')} of ${size} keys`
        return { label, parts: [{ name: 'CPU time', value }] }
      })
  })
  return barChart({
    title: 'CPU time of a request, by servers of the owner and by keys in use',
    unit: 'µs',
    bars,
  })
}

function tableOf({ suite, tables }: Results, start: string): Table {
  const table = tables.find(({ title }) => title.startsWith(start))
  if (table === undefined) throw new Error(`bench/results/${suite}.json has no table '${start}…'`)
  return table
}

/** The median of each column. */
function mediansOf({ rows }: Table): Record<string, number> {
  const names = Object.keys(rows[0]?.values ?? {})
  return Object.fromEntries(
    names.map((name) => [name, median(rows.map((row) => row.values[name]!))]),
  )
}
