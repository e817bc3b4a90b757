import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, describe, excerpt, incidentsNear } from '../check/check.ts'
import { servedBeside, type Shares, sharesOf } from '../floors.ts'
import type { Run } from '../nemesis.ts'
import { type History, writeHistory } from '../record/record.ts'
import { shrink } from './shrink.ts'
import { tell, tellIncident, tellStamp } from '../record/violation.ts'

export interface Report {
  /** What happened, in figures. */
  summary: string
  /** The violation and all that a person needs to follow it; null if there is none. */
  violation: string | null
}

/**
 * Reports what the checker finds in the record of a run. With a violation, it writes the whole
 * record to a file.
 */
export function reportOn(engine: string, seed: number, { history, faults }: Run): Report {
  const found = check(history)
  const { operations, stamps } = history
  const statuses = countBy(
    operations.filter(({ operation }) => operation === 'get'),
    ({ status }) => (status === 0 ? 'no answer' : String(status)),
  )
  const works = countBy(
    operations.filter(({ operation }) => operation !== 'get'),
    ({ operation }) => operation,
  )
  const summary = [
    `${engine}, seed ${seed}: ${operations.length} operations, ${sum(faults)} faults,` +
      ` violations: ${found === null ? 0 : 'at least 1'}`,
    `  requests: ${list(statuses)}`,
    `  beside them: ${list(works)}`,
    `  in the store's record: ${list(countBy(stamps ?? [], ({ kind }) => kind))}`,
    `  faults: ${list(faults)}`,
    ...tellStalls(history),
    `  ${tellShares(sharesOf(history))}`,
    ...tellBeside(servedBeside(history)),
  ].join('\n')
  if (found === null) return { summary, violation: null }
  const path = join(tmpdir(), `history-${engine}-${seed}-${process.pid}.jsonl`)
  writeHistory(path, history)
  const near = excerpt(history, found).map((operation) => `  ${tell(operation)}`)
  const faultsNear = incidentsNear(history, found).map((incident) => `  ${tellIncident(incident)}`)
  const lines = [
    describe(found),
    `seed ${seed}; the shortest history that shows it:`,
    ...tellAll(shrink(history, found)),
    'around it:',
    ...near,
    ...faultsNear,
    `all of it: ${path}`,
  ]
  return { summary, violation: lines.join('\n') }
}

function tellShares({ requests, claims, believed, disturbed }: Shares): string {
  return (
    `a 429 would have been believed at ${share(believed, claims, 'undisturbed 200s')}; ` +
    `a fault was on at ${share(disturbed, requests, 'requests')}`
  )
}

function share(count: number, of: number, what: string): string {
  return `${count} of ${of} ${what} (${((100 * count) / Math.max(1, of)).toFixed(1)} %)`
}

function tellStalls({ incidents }: History): string[] {
  const count = incidents?.filter(({ fault }) => fault === 'machine stood still').length ?? 0
  return count === 0 ? [] : [`  the machine stood still ${count} times`]
}

function tellBeside(served: ReturnType<typeof servedBeside>): string[] {
  if (served === null) return []
  const ms = Math.round(served.longest / 1_000)
  return [`  beside the fault: ${served.keys} keys were used throughout, at most ${ms} ms apart`]
}

function tellAll({ operations, stamps }: History): string[] {
  return [
    ...operations.toSorted((a, b) => a.t0 - b.t0).map((operation) => `  ${tell(operation)}`),
    ...(stamps ?? []).map((stamp) => `  ${tellStamp(stamp)}`),
  ]
}

function countBy<T>(items: readonly T[], name: (item: T) => string): Map<string, number> {
  return new Map([...Map.groupBy(items, name)].map(([word, all]) => [word, all.length]))
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([word, count]) => `${count} ${word}`)
    .join(', ')
}
