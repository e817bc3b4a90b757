import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { findDifferences } from './differences.ts'
import { readPlan } from './plan.ts'
import { renamesOf } from './renames.ts'

/*
 * Checks that a commit only moves files: `node scripts/moves/check.ts [COMMIT | FROM..TO]`, HEAD by
 * default. Programs may change the modules of their imports, if these are the same files as before,
 * and documents may change paths. Paths in strings are printed, because a person has to check them.
 *
 * --plan FILE says what moved, as for move.ts. Otherwise Git finds it by the content.
 * --table FILE lists a file, such as one with a table of folders, whose differences are printed,
 * but do not count.
 */

const { values, positionals } = parseArgs({
  options: { plan: { type: 'string' }, table: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
})
const [range = 'HEAD', ...more] = positionals
if (more.length > 0) throw new Error(`expected one commit or one range, got: ${more.join(' ')}`)
const [from, to] = range.includes('..') ? range.split('..') : [`${range}^`, range]

const before = readTree(from!)
const after = readTree(to!)
const moved = values.plan === undefined ? movedBetween(from!, to!) : readPlan(values.plan, before)
const renames = renamesOf(before.keys(), moved)

const differences: string[] = []
const tables: string[] = []
const paths: string[] = []
for (const [path, old] of before) {
  const newPath = moved.get(path) ?? path
  const now = after.get(newPath)
  if (now === undefined) differences.push(`${path}: gone`)
  else {
    const file = { path, newPath, before: old.toString(), after: now.toString() }
    const isBinary = [old, now].some((content) => content.includes(0))
    const found = isBinary
      ? { differences: old.equals(now) ? [] : [`${newPath}: other bytes`], paths: [] }
      : findDifferences(file, renames)
    const isTable = values.table.includes(newPath)
    ;(isTable ? tables : differences).push(...found.differences)
    paths.push(...found.paths)
  }
}
const known = new Set([...before.keys()].map((path) => moved.get(path) ?? path))
for (const path of after.keys()) if (!known.has(path)) differences.push(`${path}: new`)

print('Paths in strings and documents that changed. Check them:', paths)
print('Differences in the files that --table names:', tables)
print('Other differences:', differences)
console.log(`${moved.size} files moved, ${differences.length} other differences`)
process.exitCode = differences.length === 0 ? 0 : 1

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log([title, ...lines.map((line) => `  ${line}`), ''].join('\n'))
}

function movedBetween(old: string, now: string): Map<string, string> {
  const fields = git(['diff', '--name-status', '-z', '-l0', '-M40%', '--diff-filter=R', old, now])
    .toString()
    .split('\0')
  const pairs = new Map<string, string>()
  for (let index = 0; index + 2 < fields.length; index += 3)
    pairs.set(fields[index + 1]!, fields[index + 2]!)
  return pairs
}

/** The files of a commit by their paths. */
function readTree(commit: string): Map<string, Buffer> {
  const entries = git(['ls-tree', '-r', '-z', commit])
    .toString()
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => /^\d+ blob (\w+)\t(.*)$/s.exec(entry)!)
  const contents = readBlobs(entries.map(([, id]) => id!))
  return new Map(entries.map(([, , path], index) => [path!, contents[index]!]))
}

/** Each answer of `git cat-file --batch` is a line with the length, the content and a line end. */
function readBlobs(ids: readonly string[]): Buffer[] {
  const output = git(['cat-file', '--batch'], ids.join('\n'))
  let start = 0
  return ids.map(() => {
    const content = output.indexOf('\n', start) + 1
    const length = Number(output.toString('latin1', start, content).split(' ')[2])
    start = content + length + 1
    return output.subarray(content, content + length)
  })
}

function git(args: readonly string[], input = ''): Buffer {
  const { stdout, stderr, status } = spawnSync('git', args, { input, maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.toString().trim()}`)
  return stdout
}
