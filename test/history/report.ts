import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, describe, excerpt } from './check.ts'
import { type History, writeHistory } from './record.ts'
import { tell } from './violation.ts'

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
    `${engine}, seed ${seed}: ${operations.length} operations, ${sum(faults)} faults, ${stamps?.length} stamps,` +
      ` violations: ${found === null ? 0 : 'at least 1'}`,
    `  requests: ${list(statuses)}`,
    `  beside them: ${list(works)}`,
    `  faults: ${list(faults)}`,
  ].join('\n')
  if (found === null) return { summary, violation: null }
  const path = join(tmpdir(), `history-${engine}-${seed}-${process.pid}.jsonl`)
  writeHistory(path, history)
  const near = excerpt(history, found).map((operation) => `  ${tell(operation)}`)
  return {
    summary,
    violation: [describe(found), `seed ${seed}; around it:`, ...near, `all of it: ${path}`].join(
      '\n',
    ),
  }
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
