import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { diff, isDeepStrictEqual } from 'node:util'
import { type Input, readTranscript } from '../records/transcript.ts'

/*
 * The cases. Below a document, `=` is the answer, `!` a mistake, and then come the rows and audit
 * entries that it adds, and the answers of the API that change. A file has no answer: it says `!`
 * and changes nothing, or does what the other carriers do. `on site:` and `on file:` mark what
 * differs otherwise.
 */

export type Hand = 'site' | 'file'
/** What a carrier says of a case; null if it can't carry the document. */
export type Lines = string[] | null

const FOLDER = join(import.meta.dirname, 'cases')
export const TABLES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => basename(file, '.txt'))

const pathOf = (table: string) => join(FOLDER, `${table}.txt`)

export const casesOf = (table: string): Input[] => readTranscript(pathOf(table))

const MARK = /^on (site|file): /

/** What a hand gets and changes, by the record. */
export function expectedOf({ record }: Input, hand: Hand): string[] {
  const own = record.flatMap((line) => {
    const on = MARK.exec(line)?.[1]
    if (on === undefined) return line === '' ? [] : [line]
    return on === hand ? [line.replace(MARK, '')] : []
  })
  const isRefused = own.some((line) => line.startsWith('!'))
  const answered = record.some((line) => line.startsWith('='))
  if (hand === 'site') return answered ? own.filter((line) => !line.startsWith('!')) : own
  const lines = own.filter((line) => !line.startsWith('='))
  return isRefused ? lines.filter((line) => line.startsWith('!')) : lines
}

/** The record of both hands. */
export function unite(site: readonly string[], file: readonly string[]): string[] {
  const answer = site.filter((line) => line.startsWith('='))
  const done = site.filter((line) => !line.startsWith('='))
  if (answer.length > 0 && file.some((line) => line.startsWith('!')))
    return [...answer, ...done, ...file]
  // Two empty lists have no difference in Node.js 24.
  const lines = isDeepStrictEqual(done, file)
    ? done.map((line) => [0, line] as const)
    : diff(done, file)
  const marked = lines.map(
    ([operation, line]) =>
      `${operation === 0 ? '' : operation > 0 ? 'on site: ' : 'on file: '}${line}`,
  )
  return [...answer, ...marked]
}

/** Fails with the cases that differ. */
export function compare(cases: readonly Input[], lines: readonly Lines[], hand: Hand): void {
  const wrong = cases.flatMap((one, at) => {
    const expected = expectedOf(one, hand)
    const found = lines[at] ?? expected
    if (isDeepStrictEqual(found, expected)) return []
    const told = diff(found, expected).filter(([operation]) => operation !== 0)
    return [
      one.lines.find((line) => /^[$+]/.test(line))!,
      ...told.map(([operation, line]) => `    ${operation > 0 ? '+' : '-'} ${line}`),
    ]
  })
  if (wrong.length > 0)
    assert.fail(['lines that the record has (-) or lacks (+):', ...wrong].join('\n'))
}

/** A hand that can't carry a document keeps its record. */
export function record(table: string, site: readonly Lines[], file: readonly Lines[]): void {
  const text = casesOf(table).map((one, at) => {
    const lines = unite(site[at] ?? expectedOf(one, 'site'), file[at] ?? expectedOf(one, 'file'))
    return [...(one.goesOn || at === 0 ? [] : ['']), ...one.lines, ...lines].join('\n')
  })
  writeFileSync(pathOf(table), `${text.join('\n')}\n`)
}
