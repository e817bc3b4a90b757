import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, describe, excerpt } from './check.ts'
import { type History, writeHistory } from './record.ts'
import { shrink } from './shrink.ts'
import { tell, tellStamp } from './violation.ts'

export interface Report {
  /** What happened, in figures. */
  summary: string
  /** Null where nothing contradicts the promises; else what does, and all that is needed to follow it. */
  violation: string | null
}

/** What the checker finds in the record of a run, for people. The whole of it goes to a file where it finds something. */
export function reportOn(
  engine: string,
  seed: number,
  history: History,
  faults: ReadonlyMap<string, number>,
): Report {
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
  ].join('\n')
  if (found === null) return { summary, violation: null }
  const path = join(tmpdir(), `history-${engine}-${seed}-${process.pid}.jsonl`)
  writeHistory(path, history)
  const near = excerpt(history, found).map((operation) => `  ${tell(operation)}`)
  const lines = [
    describe(found),
    `seed ${seed}; the shortest history that shows it:`,
    ...tellAll(shrink(history, found)),
    'around it:',
    ...near,
    `all of it: ${path}`,
  ]
  return { summary, violation: lines.join('\n') }
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
