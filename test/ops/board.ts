import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../fixtures/tree.ts'

/*
 * The board for Grafana, made from the table of metrics in docs/monitoring.md: one panel for each
 * metric. The row and the name of a metric say what its panel shows.
 */

export const BOARD = join(ROOT, 'deploy/grafana/server-listing.json')

/** What the tests read of the board. */
export interface Board extends Record<string, unknown> {
  templating: { list: { name: string; query: string | { query: string } }[] }
  panels: Panel[]
}

interface Panel extends Record<string, unknown> {
  id: number
  type: 'stat' | 'timeseries'
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  options: object
  targets: { expr: string }[]
}

/** A row of the table. */
export interface Metric {
  name: string
  labels: string[]
  meaning: string
}

export function readMetrics(): Metric[] {
  const text = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8')
  return [...text.matchAll(/^\| `((?:server_listing|process)_\w+)` \| (.*?) ?\| (.*) \|$/gm)].map(
    ([, name = '', labels = '', meaning = '']) => {
      return { name, labels: [...labels.matchAll(/\w+/g)].map(String), meaning }
    },
  )
}

interface Target {
  expr: string
  legend: string
}

interface Shape {
  type: Panel['type']
  unit: string
  title: string
  targets: Target[]
  /** The text in place of the value. */
  showsName?: boolean
  thresholds?: object
}

/** Single values come first, in a row of four. Two graphs stand side by side. */
const SIZES = { stat: { w: 6, h: 4 }, timeseries: { w: 12, h: 8 } }
const WIDTH = 24
const SOURCE = { type: 'prometheus', uid: `\${datasource}` }
const CHOSEN = '{job="$job", instance=~"$instance"}'

export function boardOf(metrics: readonly Metric[]): Board {
  const shapes = metrics.map((metric) => ({ metric, shape: shapeOf(metric) }))
  const stats = shapes.filter(({ shape }) => shape.type === 'stat')
  const graphs = shapes.filter(({ shape }) => shape.type === 'timeseries')
  const below = placeOf('stat', stats.length - 1).y + SIZES.stat.h
  const places = [
    ...stats.map((_, index) => placeOf('stat', index)),
    ...graphs.map((_, index) => placeOf('timeseries', index, below)),
  ]
  return {
    uid: 'server-listing',
    title: 'Public Server Listing API',
    tags: ['server-listing'],
    // Newer versions of Grafana convert it.
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: VARIABLES },
    panels: [...stats, ...graphs].map(({ metric, shape }, index) =>
      panelOf(index + 1, metric, shape, places[index]!),
    ),
  }
}

function placeOf(type: Panel['type'], index: number, below = 0): Panel['gridPos'] {
  const { w, h } = SIZES[type]
  const inRow = WIDTH / w
  return { w, h, x: (index % inRow) * w, y: below + Math.floor(index / inRow) * h }
}

/** Each process has it. */
export const BUILD = 'server_listing_build_info'
const VARIABLES = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
  variable('job', 'Job', `label_values(${BUILD}, job)`),
  {
    ...variable('instance', 'Process', `label_values(${BUILD}{job="$job"}, instance)`),
    multi: true,
    includeAll: true,
    current: { text: 'All', value: ['$__all'] },
  },
]

function variable(name: string, label: string, query: string) {
  const onTimeRange = 2
  return {
    name,
    label,
    type: 'query',
    datasource: SOURCE,
    query: { query, refId: name },
    refresh: onTimeRange,
    sort: 1,
  }
}

function panelOf(id: number, { meaning }: Metric, shape: Shape, gridPos: Panel['gridPos']): Panel {
  const { type, title, unit, targets, showsName = false, thresholds } = shape
  const options =
    type === 'stat'
      ? {
          reduceOptions: { calcs: ['lastNotNull'], values: false },
          textMode: showsName ? 'name' : 'auto',
          colorMode: thresholds === undefined ? 'none' : 'value',
          graphMode: 'none',
        }
      : { legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] } }
  return {
    id,
    type,
    title,
    description: meaning,
    gridPos,
    datasource: SOURCE,
    fieldConfig: {
      defaults: {
        unit,
        ...(type === 'timeseries' && { min: 0 }),
        ...(thresholds && { thresholds }),
      },
      overrides: [],
    },
    options,
    targets: targets.map(({ expr, legend }, index) => ({
      refId: 'ABC'[index],
      datasource: SOURCE,
      expr,
      legendFormat: legend,
      ...(type === 'stat' ? { instant: true, range: false } : { range: true }),
    })),
  }
}

function shapeOf({ name, labels, meaning }: Metric): Shape {
  const series = `${name}${CHOSEN}`
  const by = labels.length > 0 ? labels : ['instance']
  const legend = by.map(inBraces).join(' ')
  const graph = { type: 'timeseries', title: titleOf(name), unit: unitOf(name) } as const
  const stat = { ...graph, type: 'stat' } as const
  if (meaning.startsWith('Histogram:'))
    return {
      ...graph,
      targets: [0.5, 0.99].map((part) => ({
        expr:
          `histogram_quantile(${part}, sum by (${['le', ...by].join(', ')}) ` +
          `(rate(${name}_bucket${CHOSEN}[$__rate_interval])))`,
        legend: `p${100 * part} ${legend}`,
      })),
    }
  if (name.endsWith('_total'))
    return {
      ...graph,
      targets: [{ expr: `sum by (${by.join(', ')}) (rate(${series}[$__rate_interval]))`, legend }],
    }
  const ofEach = ['instance', ...labels].map(inBraces).join(' ')
  if (name.endsWith('_info')) {
    const text = labels.map(inBraces).join(', ')
    return { ...stat, targets: [{ expr: series, legend: text }], showsName: true }
  }
  if (/_(timestamp|start_time)_seconds$/.test(name)) {
    const age = [{ expr: `time() - (${series} > 0)`, legend: ofEach }]
    return { ...stat, title: `Time since ${titleOf(name).toLowerCase()}`, targets: age }
  }
  if (!meaning.startsWith('1 if ')) return { ...graph, targets: [{ expr: series, legend: ofEach }] }
  const truth = { unit: 'bool_yes_no', targets: [{ expr: series, legend: ofEach }] }
  return labels.length > 0 ? { ...graph, ...truth } : { ...stat, ...truth, thresholds: RED_AT_0 }
}

const RED_AT_0 = {
  mode: 'absolute',
  steps: [
    { color: 'red', value: null },
    { color: 'green', value: 1 },
  ],
}

const inBraces = (label: string): string => `{{${label}}}`

function titleOf(name: string): string {
  const words = name
    .replace(/^server_listing_/, '')
    .replace(/_info$|(_timestamp|_time)?(_seconds|_bytes)?(_total)?$/, '')
    .replaceAll('_', ' ')
  return `${words[0]!.toUpperCase()}${words.slice(1)}`.replace(' cpu', ' CPU')
}

/** The names of Grafana's units. A rate of seconds of CPU time is a number of cores. */
function unitOf(name: string): string {
  if (name.endsWith('_seconds_total')) return 'percentunit'
  if (name.endsWith('_total')) return 'reqps'
  if (name.endsWith('_seconds')) return 's'
  return name.endsWith('_bytes') ? 'bytes' : 'short'
}
