import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { format } from 'node:util'
import { DID_NOT_EXIT } from './exit.ts'

interface TestEvent {
  type: string
  data: {
    name: string
    nesting: number
    /** The file that contains the test. */
    file?: string
    /** The file that was run. Events about a whole file do not have it. */
    entryFile?: string
    details?: { type?: string; error?: TestError }
    counts?: { tests: number }
    skip?: unknown
    todo?: unknown
  }
}

interface TestError {
  failureType?: string
  exitCode?: number | null
  /** What the test threw. */
  cause?: unknown
}

/** The most lines of an error that the last lines of a run show, and characters of each. */
const REASON_LINES_MAX = 20
const REASON_WIDTH_MAX = 300

/**
 * node:test's usual report, the full name and error of each failed test, and a last line with
 * counts. Skipped tests and files without tests count as failures, because they prove nothing.
 * TEST_RESULTS names a file that also gets the last lines.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  const failed: string[] = []
  const empty = new Set<string>()
  /** The names of the current test and its suites. Files are reported one after another. */
  const trail: string[] = []

  async function* counted() {
    for await (const event of source) {
      const { name, nesting, skip, todo } = event.data
      if (event.type === 'test:start') trail.splice(nesting, Infinity, name)
      if (ranNoTest(event)) empty.add(fileOf(event))
      else if (isTest(event)) {
        if (event.type === 'test:pass' && !skip && !todo) passed += 1
        else failed.push(linesOf(event, [...trail.slice(0, nesting), name]))
      }
      yield event
    }
  }

  for await (const text of Readable.from(counted()).compose(spec())) yield String(text)
  for (const file of empty) failed.push(`failed: ${file}: it contains no test`)
  if (passed + failed.length === 0 || failed.length > 0) process.exitCode = 1
  const last = [...failed, `${passed} passed, ${failed.length} failed`, ''].join('\n')
  const results = process.env.TEST_RESULTS
  if (results !== undefined) appendFileSync(results, last)
  yield `\n${last}`
}

/**
 * node:test lets a file without a test pass, under the file's name if it never loaded node:test.
 */
function ranNoTest({ type, data: { file, entryFile, counts } }: TestEvent): boolean {
  if (type === 'test:summary') return file !== undefined && counts?.tests === 0
  return type === 'test:pass' && entryFile === undefined
}

/** True at the end of a test, and of a suite that failed by itself, as in an `after` hook. */
function isTest({ type, data: { details } }: TestEvent): boolean {
  if (type !== 'test:pass' && type !== 'test:fail') return false
  if (details?.type !== 'suite') return true
  return type === 'test:fail' && details.error?.failureType !== 'subtestsFailed'
}

/** The full name of a test, and why it failed. */
function linesOf(event: TestEvent, names: readonly string[]): string {
  const error = event.data.details?.error
  if (error?.exitCode === DID_NOT_EXIT)
    return `failed: ${fileOf(event)}: its process did not exit after its tests`
  const name = `${fileOf(event)}: ${names.join(' > ')}`
  if (event.type === 'test:pass') return `skipped: ${name}`
  return [`failed: ${name}`, ...reasonOf(error)].join('\n')
}

/** The first lines of what a test threw, indented, so that none looks like a line of counts. */
function reasonOf({ cause }: TestError = {}): string[] {
  if (cause === undefined) return []
  const text = cause instanceof Error ? cause.message : format(cause)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(0, REASON_LINES_MAX).map((line) => `    ${line.slice(0, REASON_WIDTH_MAX)}`)
}

function fileOf({ data }: TestEvent): string {
  return relative('', data.entryFile ?? data.file ?? '')
}
