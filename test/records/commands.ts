import assert from 'node:assert/strict'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ended, runCommand } from '../cli/command.ts'
import { ask } from '../fixtures/requests.ts'
import { openReader } from '../rows/tables.ts'
import type { Names } from './names.ts'
import type { Watch } from './rows.ts'
import { type Input, isCommand, type Play } from './transcript.ts'

/** Where commands run: their database, a folder for files, and the names of what differs. */
export interface Place {
  env: Record<string, string>
  folder: string
  names: Names
  watch: Watch
  /** Leaves out what an earlier output has. */
  shorten: (output: string) => string
  /** The database file in the folder, or null on PostgreSQL. */
  file: string | null
}

/** How an input runs a command. */
export interface CommandLine {
  args: string[]
  env: Record<string, string>
  stdin: string
  /** The file that gets the output, or null. */
  output: string | null
}

/**
 * Runs commands. Words before the command such as `PORT=80` set its environment, and `> file` at
 * the end keeps its output in the folder. The record has the exit code unless it is 0, standard
 * output indented, standard error behind `!`, and the rows that changed.
 */
export function playCommands(place: Place): Play {
  const { names, watch } = place
  return async (input) => {
    const isRun = isCommand(input)
    const [lines, rows] = await watch.during(() =>
      isRun
        ? runInput(readCommandLine(input, place), place)
        : request(wordsOf(names.fill(input.text)), place),
    )
    const again = isRun && rows.length > 0 ? await repeat(input, place) : []
    return [...lines, ...[...rows, ...again].map((line) => inNames(line, names))]
  }
}

export function readCommandLine(
  { text, stdin }: Pick<Input, 'text' | 'stdin'>,
  { env, folder, names }: Pick<Place, 'env' | 'folder' | 'names'>,
): CommandLine {
  const words = wordsOf(names.fill(text))
  const first = [...words, ''].findIndex((word) => !/^[A-Z_]+=/.test(word))
  const set = words.slice(0, first).map((word) => word.split(/=(.*)/s).slice(0, 2))
  const at = words.lastIndexOf('>')
  return {
    args: words.slice(first, at < 0 ? undefined : at),
    env: { ...env, ...Object.fromEntries(set) },
    stdin: names.fill(stdin),
    output: at < 0 ? null : join(folder, words[at + 1]!),
  }
}

/** Runs a command. Its output is on standard output or in the file. */
export async function runLine({ args, env, stdin, output }: CommandLine): Promise<Ended> {
  const ended = await runCommand(args, { env, stdin })
  if (output === null) return ended
  writeFileSync(output, ended.stdout)
  return { ...ended, stdout: '' }
}

async function runInput(line: CommandLine, { names, shorten }: Place): Promise<string[]> {
  const { code, stdout, stderr } = await runLine(line)
  assert.doesNotMatch(stderr, /\n\s+at |svc_live_[0-9a-f]{8}|hunter2/i)
  return [
    ...(code === 0 ? [] : [`= ${code}`]),
    ...prefixed('    ', shorten(names.hide(stdout))),
    ...prefixed('  ! ', shorten(names.hide(stderr))),
  ]
}

/** In the name of an archive. */
const STAMP = /\b\d{8}T\d+Z/g

/** The rows that the same input changes when it is sent once more, to a copy of the SQLite file. */
async function repeat(input: Input, { env, folder, names, watch, file }: Place): Promise<string[]> {
  if (file === null) return []
  const copy = `${folder}-again`
  const moved = (text: string) => text.replaceAll(folder, copy)
  cpSync(folder, copy, { recursive: true })
  const reader = await openReader({ engine: 'sqlite', path: moved(file) })
  const watchOfCopy = await watch.ofCopy(reader)
  try {
    const line = readCommandLine(
      { text: moved(names.fill(input.text)), stdin: input.stdin },
      { env: mapValues(env, moved), folder: copy, names },
    )
    const [, rows] = await watchOfCopy.during(() => runLine(line))
    return rows.map((row) =>
      `  again:${row.slice(1)}`
        .replaceAll('<folder>-again', '<folder>')
        .replaceAll(STAMP, '{stamp}'),
    )
  } finally {
    await reader.close()
    rmSync(copy, { recursive: true })
  }
}

/** A line about a row has the names of rows; only paths and instants differ from run to run. */
function inNames(line: string, names: Names): string {
  return names.hide(line.replaceAll('<folder>', '{folder}'))
}

/** Answers of the service, or SQL. What /metrics measures differs from run to run. */
async function request(
  [method, url, header]: string[],
  { names, watch }: Place,
): Promise<string[]> {
  if (method === 'SQL') {
    await watch.execute(url!)
    return []
  }
  const { port, pathname } = new URL(url!)
  const [name, value] = header === undefined ? [] : header.split(': ')
  const { status, body } = await ask(Number(port), {
    method: method!,
    path: pathname,
    headers: name === undefined ? {} : { [name]: value! },
  })
  return [`= ${status}`, ...prefixed('    ', pathname === '/metrics' ? '' : names.hide(body))]
}

/** Quotes keep spaces together, and have the escapes of JSON. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g)].map(([word]) =>
    word.replaceAll(/"(?:[^"\\]|\\.)*"/g, (quoted) => JSON.parse(quoted) as string),
  )
}

function prefixed(prefix: string, text: string): string[] {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  return lines.map((line) => `${prefix}${line}`)
}

function mapValues(
  values: Record<string, string>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}
