import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sent } from './record-statements.ts'

/*
 * Compares the SQL that two trees send to the drivers in the contract suite.
 *
 * `node scripts/moves/statements.ts record FILE [TREE]` runs the suite of a tree, by default this
 * one, and writes what it sent to FILE. TREE is a checkout with its packages installed. A record of
 * failed tests is of no use.
 * `node scripts/moves/statements.ts compare FILE FILE` prints what differs. Several records of one
 * tree, with commas between them, count as one.
 *
 * A transaction is one piece, from BEGIN to COMMIT or ROLLBACK, because the order of its statements
 * is the order of its locks. Each test is compared as a set of pieces: concurrent calls and timers
 * send equal pieces in another order or number in each run. A timer can also send its piece during
 * another test, so a piece that the other tree sends in another test is printed, but does not fail.
 */

const RECORDER = join(import.meta.dirname, 'record-statements.ts')
const SUITE = ['test/contract/sqlite.test.ts', 'test/contract/postgres.test.ts']

/** Values that differ in each run. Most others are parameters, so no text has them. */
const CHANGING: [RegExp, string][] = [
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, '<id>'],
  [/\blisting_\d+_\d+_\d+\b/g, '<database>'],
  [/[\da-f]{32,}/gi, '<hex>'],
  [/\b\d{12,}\b/g, '<number>'],
  [/(?<=')\/[^']*(?=')/g, '<path>'],
  [/\s+/g, ' '],
]

const [verb, ...rest] = process.argv.slice(2)
if (verb === 'record' && rest.length >= 1) record(rest[0]!, rest[1] ?? '.')
else if (verb === 'compare' && rest.length === 2) compare(rest[0]!, rest[1]!)
else throw new Error('expected record FILE [TREE], or compare FILE FILE')

function record(path: string, tree: string): void {
  if (existsSync(path)) throw new Error(`${path} exists: name a new file`)
  const { status } = spawnSync(
    process.execPath,
    [
      '--test',
      '--test-concurrency=1',
      '--test-timeout=600000',
      '--test-reporter=./test/run/reporter.ts',
      '--test-global-setup=./test/run/shared-cluster.ts',
      '--import=./test/run/compile-cache.js',
      `--import=${RECORDER}`,
      ...SUITE,
    ],
    { cwd: tree, stdio: 'inherit', env: { SEED: '1', ...process.env, STATEMENTS: resolve(path) } },
  )
  process.exitCode = status ?? 1
}

function compare(left: string, right: string): void {
  const [before, after] = [left, right].map((paths) => piecesOf(paths.split(',')))
  const count = reportOnly(left, before!, after!) + reportOnly(right, after!, before!)
  console.log(`${count} differences`)
  process.exitCode = count === 0 ? 0 : 1
}

/**
 * Prints the pieces that only the first record has. Returns how many of them no test of the other
 * one has.
 */
function reportOnly(name: string, own: Pieces, other: Pieces): number {
  const everywhere = new Set([...other.values()].flatMap((pieces) => [...pieces]))
  let count = 0
  for (const [test, pieces] of own)
    for (const piece of pieces) {
      if (other.get(test)?.has(piece)) continue
      const isElsewhere = everywhere.has(piece)
      if (!isElsewhere) count += 1
      const note = isElsewhere ? ' (the other one has it in another test)' : ''
      console.log(`${test}\n  only in ${name}${note}:\n    ${piece.replaceAll('\n', '\n    ')}`)
    }
  return count
}

/** The distinct pieces of each test. */
type Pieces = Map<string, Set<string>>

/** A transaction counts for the test that began it. */
function piecesOf(paths: readonly string[]): Pieces {
  const tests: Pieces = new Map()
  const open = new Map<string, { test: string; texts: string[] }>()
  const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  for (const line of lines.filter((one) => one !== '')) {
    const { test, connection, text: exact } = JSON.parse(line) as Sent
    const text = CHANGING.reduce(
      (changed, [from, to]) => changed.replaceAll(from, to),
      exact,
    ).trim()
    const piece = open.get(connection) ?? { test, texts: [] }
    if (piece.texts.at(-1) !== text) piece.texts.push(text)
    const isBegun = open.has(connection) || /^(BEGIN|START TRANSACTION)\b/i.test(text)
    if (isBegun && !/(^|;\s*)(COMMIT|ROLLBACK)(?! TO)\b/i.test(text)) open.set(connection, piece)
    else {
      open.delete(connection)
      add(piece)
    }
  }
  for (const piece of open.values()) add({ ...piece, texts: [...piece.texts, '(not ended)'] })
  return tests

  function add({ test, texts }: { test: string; texts: string[] }): void {
    const pieces = tests.get(test) ?? new Set()
    tests.set(test, pieces.add(texts.join('\n')))
  }
}
