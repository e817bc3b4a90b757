import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../cli/command.ts'
import { ask } from '../fixtures/requests.ts'
import type { Names } from './names.ts'
import type { Play } from './transcript.ts'

/** Where commands run: their database, a folder for files, and the names of what differs. */
export interface Place {
  env: Record<string, string>
  folder: string
  names: Names
  /** A number that changes with each write to the database; null if the engine has none. */
  version(): unknown
}

/**
 * Runs commands. Words before the command such as `PORT=80` set its environment, and `> file` at
 * the end keeps its output in the folder. The record has the exit code unless it is 0, standard
 * output indented, and standard error behind `!`.
 */
export function playCommands(place: Place): Play {
  return async ({ text, stdin }) => {
    const words = wordsOf(place.names.fill(text))
    return /^[A-Z]+$/.test(words[0] ?? '')
      ? request(words, place.names)
      : runWords(words, stdin, place)
  }
}

async function runWords(
  words: readonly string[],
  stdin: string,
  { env, folder, names, version }: Place,
): Promise<string[]> {
  const first = [...words, ''].findIndex((word) => !/^[A-Z_]+=/.test(word))
  const set = words.slice(0, first).map((word) => word.split(/=(.*)/s).slice(0, 2))
  const at = words.lastIndexOf('>')
  const args = words.slice(first, at < 0 ? undefined : at)
  const before = version()
  const { code, stdout, stderr } = await runCommand(args, {
    env: { ...env, ...Object.fromEntries(set) },
    stdin: names.fill(stdin),
  })
  if (at >= 0) writeFileSync(join(folder, words[at + 1]!), stdout)
  if (code !== 0) assert.equal(version(), before, `${args.join(' ')}: it changed the database`)
  assert.doesNotMatch(stderr, /\n\s+at |svc_live_[0-9a-f]{8}|hunter2/i)
  return [
    ...(code === 0 ? [] : [`= ${code}`]),
    ...prefixed('    ', at < 0 ? names.hide(stdout) : ''),
    ...prefixed('  ! ', names.hide(stderr)),
  ]
}

/** The status and the body of an answer. What /metrics measures differs from run to run. */
async function request([method, url, header]: string[], names: Names): Promise<string[]> {
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
