import type { Histogram } from '../model/health/histogram.ts'

/*
 * The text format of Prometheus, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A metric with its samples, in the order of the text. */
export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: Sample[]
}

interface Sample {
  /** Follows the name of the family. */
  suffix?: string
  labels?: Record<string, string>
  value: number
}

/** Families without a sample are left out. */
export function renderMetrics(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix = '', labels = {}, value }) => `${name}${suffix}${renderLabels(labels)} ${value}`,
      )
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
    })
    .join('')
}

function renderLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** The samples of a histogram. `unit` is one unit of the format in units of the histogram. */
export function histogramSamples(
  histogram: Histogram,
  unit: number,
  labels: Record<string, string> = {},
): Sample[] {
  let total = 0
  const buckets = [...histogram.bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
    total += histogram.count(index)
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound / unit)
    return { suffix: '_bucket', labels: { ...labels, le }, value: total }
  })
  return [
    ...buckets,
    { suffix: '_sum', labels, value: histogram.sum() / unit },
    { suffix: '_count', labels, value: total },
  ]
}
