import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesBelow, type SourceFile } from './fixtures/tree.ts'

/*
 * How large a file, a function and a line may be.
 */

const FILE_LINES_MAX = 300
const FUNCTION_LINES_MAX = 70
const COMMENT_WIDTH_MAX = 100

const files = ['src', 'client/src', 'conform', 'test', 'bench', 'demo', 'scripts'].flatMap(
  (folder) => filesBelow(folder, '.ts'),
)

test('no file has more than 300 lines', () => {
  const long = files
    .map(({ path, text }) => ({ path, count: text.trimEnd().split('\n').length }))
    .filter(({ count }) => count > FILE_LINES_MAX)
  assert.deepEqual(long, [])
})

test('a function has at most 70 lines', () => {
  assert.deepEqual(files.flatMap(longFunctions), [])
})

test('comments are at most 100 columns wide', () => {
  // The formatter holds code to the same width. It can't break a string or a template.
  const wide = files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, name: `${path}:${index + 1}` }))
      .filter(({ line }) => /^\s*(\/\/|\/?\*)/.test(line) && line.length > COMMENT_WIDTH_MAX)
      .map(({ name }) => name),
  )
  assert.deepEqual(wide, [])
})

/**
 * Functions above the limit. The formatter puts the end of a function into the column of its first
 * line, so lines tell. Tests inside a function that registers them count by themselves. The
 * docstrings of a noun's records stand inside a function, and don't count.
 */
function longFunctions({ path, text }: SourceFile): { name: string; lines: number }[] {
  const lines = text.replaceAll(/^ +\/\*\*[\s\S]*?\*\/\n/gm, '').split('\n')
  const isInTest = lines.map(() => false)
  for (const [index, line] of lines.entries())
    if (/^\s*(test|suite)\(/.test(line)) isInTest.fill(true, index, endOf(lines, index) + 1)
  return lines.flatMap((line, index) => {
    const name = nameOfFunction(line)
    if (name === undefined) return []
    const own = isInTest.slice(index, endOf(lines, index) + 1)
    const count = isInTest[index] ? own.length : own.filter((inTest) => !inTest).length
    return count > FUNCTION_LINES_MAX ? [{ name: `${path}: ${name}`, lines: count }] : []
  })
}

function nameOfFunction(line: string): string | undefined {
  const declared = /^\s*(?:export )?(?:default )?(?:async )?function\*? ?(\w*)/.exec(line)
  if (declared !== null) return declared[1]
  const method = /^\s+(?:async )?(\w+)\(.*\{$/.exec(line)?.[1]
  if (method !== undefined && !/^(if|for|while|switch|catch|suite)$/.test(method)) return method
  return /^(?!\s*suite\().*=> \{$/.test(line) ? line.trim().slice(0, 40) : undefined
}

/** The line on which what begins on this one ends. */
function endOf(lines: readonly string[], start: number): number {
  const column = lines[start]!.search(/\S/)
  for (let index = start + 1; index < lines.length; index += 1) {
    const line = lines[index]!
    // A line such as `): Promise<void> {` ends the parameters only.
    if (line.search(/\S/) === column && /^\s*[)}\]]/.test(line) && !line.endsWith('{')) return index
  }
  return start
}
