import assert from 'node:assert/strict'
import type { Recorded } from './site.ts'

const INTRODUCTION = `What each act of test/rows/ changes in the tables, on both engines. The last part has what only
one engine does. To write this file anew:

  node --test --test-update-snapshots test/rows/rows.test.ts

A line has a table, + for an added row, - for a removed one or ~ for a changed one, and what identifies
the row. Names stand for ids and hashes, and … for other random values. "now" is the time of the act,
and "earlier" an instant that the database had before. An added row's line leaves out nulls.
`

/** The lines that all engines share, act by act, and then the other lines of each engine. */
export function writeRecord(lives: Record<string, readonly Recorded[]>): string {
  const engines = Object.entries(lives)
  const [first = [], ...others] = Object.values(lives)
  for (const other of others) assert.deepEqual(titlesOf(other), titlesOf(first))
  const shared = first.map(({ title, lines }, at) => ({
    title,
    lines: lines.filter((line) => others.every((acts) => acts[at]!.lines.includes(line))),
  }))
  const own = engines.map(([engine, acts]) => {
    const different = acts.map(({ title, lines }, at) => ({
      title,
      lines: lines.filter((line) => !shared[at]!.lines.includes(line)),
    }))
    return `\n\n# Only on ${engine}\n${actsIn(different.filter(({ lines }) => lines.length > 0))}`
  })
  return [INTRODUCTION, '\n# On both engines\n', actsIn(shared), ...own].join('')
}

function titlesOf(acts: readonly Recorded[]): string[] {
  return acts.map(({ title }) => title)
}

function actsIn(acts: readonly Recorded[]): string {
  const texts = acts.map(({ title, lines }) => [title, ...lines.map((line) => `  ${line}`)])
  return texts.map((lines) => `\n${lines.join('\n')}\n`).join('')
}
