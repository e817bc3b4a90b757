import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { format } from 'node:util'
import { FOLDER_ENTRY, fileRunIn, SHORT_S } from './entries.ts'
import { DID_NOT_EXIT } from './exit.ts'

interface TestEvent {
  type: string
  data: {
    name: string
    nesting: number
    /** The file that contains the test. */
    file?: string
    /** The file that the process runs. Events about the whole process do not have it. */
    entryFile?: string
    details?: { type?: string; error?: TestError; duration_ms?: number }
    counts?: { tests: number }
    skip?: unknown
    todo?: unknown
  }
}

interface TestError {
  failureType?: string
  exitCode?: number | null
  signal?: string | null
  /** What the test threw. */
  cause?: unknown
}

/** The most lines of an error that the last lines of a run show, and characters of each. */
const REASON_LINES_MAX = 20
const REASON_WIDTH_MAX = 300

/**
 * node:test's usual report, the full name and error of each failed test, and a last line with
 * counts. Skipped tests and files without tests count as failures, because they prove nothing.
 * TEST_RESULTS names a file that also gets the last lines. With TIMES=1 it writes the usual times.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  const failed: string[] = []
  const empty = new Set<string>()
  /** The names of the reported test and its suites. Processes are reported one after another. */
  const trail: string[] = []
  /** The files of folder entries in which a test has ended. */
  const tested = new Set<string>()
  /** The seconds that each file took. */
  const times: Record<string, number> = {}

  async function* counted() {
    for await (const event of source) {
      const { name, nesting, skip, todo } = event.data
      if (event.type === 'test:start') trail.splice(nesting, Infinity, name)
      const place = placeOf(event, [...trail.slice(0, nesting), name])
      if (hasEndedEarly(event)) failed.push(crashOf(event))
      else if (isTest(event)) {
        tested.add(place.file)
        if (event.type === 'test:pass' && !skip && !todo) passed += 1
        else failed.push(linesOf(event, place))
      }
      if (isFileOfFolder(event)) times[place.file] = event.data.details!.duration_ms! / 1_000
      if (ranNoTest(event) || (isFileOfFolder(event) && !tested.has(place.file)))
        empty.add(place.file)
      yield event
    }
  }

  for await (const text of Readable.from(counted()).compose(spec())) yield String(text)
  if (process.env.TIMES === '1') writeTimes(times)
  for (const file of empty) failed.push(`failed: ${file}: it contains no test`)
  if (passed + failed.length === 0 || failed.length > 0) process.exitCode = 1
  const last = [...failed, `${passed} passed, ${failed.length} failed`, ''].join('\n')
  const results = process.env.TEST_RESULTS
  if (results !== undefined) appendFileSync(results, last)
  yield `\n${last}`
}

/** Replaces the times of these files in the table of entries.ts, which leaves out short ones. */
function writeTimes(taken: Readonly<Record<string, number>>): void {
  const path = new URL('times.json', import.meta.url)
  const known: Record<string, number> = JSON.parse(readFileSync(path, 'utf8'))
  const all = { ...known, ...taken }
  const times = Object.keys(all)
    .toSorted()
    .filter((file) => all[file]! > SHORT_S)
    .map((file) => [file, Math.ceil(all[file]!)] as const)
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(times), null, 2)}\n`)
}

/** Where a test stands: its file, and the names of its suites and its own. */
interface Place {
  file: string
  names: string[]
}

function placeOf({ data }: TestEvent, names: readonly string[]): Place {
  const entry = data.entryFile ?? data.file ?? ''
  if (data.entryFile !== undefined && FOLDER_ENTRY.test(entry))
    return { file: names[0]!, names: names.slice(1) }
  return { file: relative('', entry), names: [...names] }
}

/** True at the end of a process that its tests did not bring about. */
function hasEndedEarly({ type, data }: TestEvent): boolean {
  const { failureType, exitCode } = data.details?.error ?? {}
  if (type !== 'test:complete' || data.entryFile !== undefined) return false
  // Node.js does not report this failure if a test has failed before. Its own exit code is 1 then.
  return failureType === 'testCodeFailure' || (failureType === 'subtestsFailed' && exitCode !== 1)
}

/** The file whose tests ran when the process ended, and how it ended. */
function crashOf({ data: { file: entry = '', details } }: TestEvent): string {
  const { exitCode, signal } = details?.error ?? {}
  if (exitCode === DID_NOT_EXIT)
    return `failed: ${relative('', entry)}: its process did not exit after its tests`
  const file = fileRunIn(entry) ?? relative('', entry)
  return `failed: ${file}: its process ${signal ? `was ended by ${signal}` : `exited with code ${exitCode}`}`
}

/**
 * node:test lets a file without a test pass, under the file's name if it never loaded node:test.
 */
function ranNoTest({ type, data: { file, entryFile, counts } }: TestEvent): boolean {
  if (type === 'test:summary') return file !== undefined && counts?.tests === 0
  return type === 'test:pass' && entryFile === undefined
}

/** True at the end of a file that shares a process with others of its folder. */
function isFileOfFolder({ type, data: { nesting, entryFile } }: TestEvent): boolean {
  return type === 'test:pass' && nesting === 0 && FOLDER_ENTRY.test(entryFile ?? '')
}

/** True at the end of a test, and of a suite that failed by itself, as in an `after` hook. */
function isTest({ type, data: { details, entryFile } }: TestEvent): boolean {
  if (entryFile === undefined || (type !== 'test:pass' && type !== 'test:fail')) return false
  if (details?.type !== 'suite') return true
  return type === 'test:fail' && details.error?.failureType !== 'subtestsFailed'
}

/** The full name of a test, or of a file that can't be loaded, and why it failed. */
function linesOf(event: TestEvent, { file, names }: Place): string {
  const name = names.length > 0 ? `${file}: ${names.join(' > ')}` : file
  if (event.type === 'test:pass') return `skipped: ${name}`
  return [`failed: ${name}`, ...reasonOf(event.data.details?.error)].join('\n')
}

/** The first lines of what a test threw, indented, so that none looks like a line of counts. */
function reasonOf({ cause }: TestError = {}): string[] {
  if (cause === undefined) return []
  const text = cause instanceof Error ? cause.message : format(cause)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(0, REASON_LINES_MAX).map((line) => `    ${line.slice(0, REASON_WIDTH_MAX)}`)
}
