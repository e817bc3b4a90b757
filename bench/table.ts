import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'

type Values = Readonly<Record<string, number>>

/** Versions of other programs that take part in the run. */
export const versions: Record<string, string | undefined> = {
  'Node.js': process.versions.node,
  V8: process.versions.v8,
  SQLite: process.versions.sqlite,
}

/** Prints a title. The returned function prints a row; the first one brings the headings. */
export function openTable(
  title: string,
  label: string,
): (name: string, values: Values, note?: string) => void {
  console.log(title)
  let heads: readonly string[] = []
  const line = (first: string, cells: readonly string[]) =>
    first.padStart(7) +
    cells.map((cell, at) => cell.padStart(Math.max(10, heads[at]!.length + 3))).join('')
  return (name, values, note = '') => {
    if (heads.length === 0) {
      heads = Object.keys(values)
      console.log(line(label, heads))
    }
    console.log(line(name, Object.values(values).map(shorten)) + note)
  }
}

/** A number with about three digits that count. */
function shorten(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 3)
}

/** What was measured, its value, and its target with the unit of both. */
export type Result = readonly [measured: string, value: number, target: `${Relation} ${string}`]
type Relation = '≥' | '≤' | '<'

/**
 * Prints where the run took place and all results, as docs/performance.md shows them. True if each
 * meets its target.
 */
export function printResults(results: readonly Result[]): boolean {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const { length, 0: first } = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  console.log(`
${new Date().toISOString().slice(0, 10)}, commit ${commit}, on ${length} processors (${first?.model}) with
${memory} GiB, with ${software.join(', ')}:

| measured | value | target | met |
|---|---|---|---|`)
  for (const result of results) {
    const [measured, value, target] = result
    const [, number = '', unit = ''] = target.split(' ')
    const shown = `${Number(value.toPrecision(digitsFor(number)))} ${unit}`.trim()
    console.log(`| ${measured} | ${shown} | ${target} | ${isMet(result) ? 'yes' : '**no**'} |`)
  }
  return results.every(isMet)
}

/** At least three significant digits, and one more than a fractional target has: 1.005 and 1.01. */
function digitsFor(target: string): number {
  const digits = target.includes('.') ? target.replace(/^0\.0*|\./, '').length : 0
  return Math.max(3, digits + 1)
}

function isMet([, value, target]: Result): boolean {
  const [relation, number] = target.split(' ')
  const bound = Number(number)
  if (relation === '≥') return value >= bound
  return relation === '≤' ? value <= bound : value < bound
}
