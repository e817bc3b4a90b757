import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Line } from './journal.ts'

/** Arguments: the URL of a database, a role, the number of acts, and the seed that draws them. */
export const PROGRAM = fileURLToPath(new URL('./writer-main.ts', import.meta.url))
// Without the cache a short-lived writer spends most of its time compiling TypeScript.
const COMPILE_CACHE = fileURLToPath(
  new URL('../../../node_modules/.cache/compiled', import.meta.url),
)

export interface Writer {
  /** Resolves when it has printed this many lines or has ended. */
  hasPrinted(count: number): Promise<void>
  kill(): void
  /** Resolves at its end to all its lines in order. Rejects if an act had a wrong result. */
  ended: Promise<Line[]>
}

/**
 * `busy` is a service with so many batches that it copies its log. `careless` and `reckless` are
 * commands that sync too little: synchronous = NORMAL and OFF.
 */
export type Role = 'busy' | 'service' | 'command' | 'careless' | 'reckless'

export interface WriterOptions {
  /** A command that runs the writer, with its arguments. */
  under?: readonly string[]
  /** True if it continues after a failed act with what it finds in the database. */
  goesOn?: boolean
}

/** Starts a writer that works until it is killed or has done `actsMax` acts. */
export function startWriter(
  url: string,
  role: Role,
  seed: number,
  actsMax = Number.POSITIVE_INFINITY,
  { under = [], goesOn = false }: WriterOptions = {},
): Writer {
  const args = [PROGRAM, url, role, String(actsMax), String(seed), ...(goesOn ? ['goes on'] : [])]
  const [command, ...rest] = [...under, process.execPath, ...args] as [string, ...string[]]
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(command, rest, {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Line[] = []
  const waiting: { count: number; resolve(): void }[] = []
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = read(text)
    if (line === null) return
    lines.push(line)
    for (const { count, resolve } of waiting) if (lines.length >= count) resolve()
  })
  const ended = once(child, 'close').then(([code]) => {
    for (const { resolve } of waiting) resolve()
    if (code !== 0 && code !== null) throw new Error(`a writer ended with ${code}: ${stderr}`)
    return lines
  })
  // It is awaited after the kill.
  ended.catch(() => {})

  return {
    hasPrinted: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve })
        if (lines.length >= count || child.exitCode !== null) resolve()
      }),
    kill: () => child.kill('SIGKILL'),
    ended,
  }
}

/** Fills the compile cache, because killed processes don't write it. */
export async function compileWriter(url: string): Promise<void> {
  await startWriter(url, 'service', 0, 0).ended
}

/** Null for a line that the kill has cut off. */
function read(text: string): Line | null {
  try {
    return JSON.parse(text) as Line
  } catch {
    return null
  }
}
