import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Line } from './journal.ts'

/** Its arguments are the URL of a database, a role, and how many acts there are to be. */
export const PROGRAM = fileURLToPath(new URL('./writer-main.ts', import.meta.url))
// Without it most of a short life goes into reading the same TypeScript again.
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

export interface Writer {
  /** Resolves when it has said so many lines, or has ended. */
  hasSaid(count: number): Promise<void>
  kill(): void
  /** All that it said, in order, when it has ended. Rejects where a result was not the one that it had to be. */
  ended: Promise<Line[]>
}

/** `careless` and `reckless` are a command that waits less for the disk than it should: synchronous = NORMAL, and OFF. */
export type Role = 'service' | 'command' | 'careless' | 'reckless'

/** Starts one that works until it is killed, or has done so many acts. */
export function startWriter(url: string, role: Role, actsMax = Number.POSITIVE_INFINITY): Writer {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [PROGRAM, url, role, String(actsMax)],
    {
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
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
    hasSaid: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve })
        if (lines.length >= count || child.exitCode !== null) resolve()
      }),
    kill: () => child.kill('SIGKILL'),
    ended,
  }
}

/** Fills the cache, which a process that is killed leaves as it is. */
export async function compileWriter(url: string): Promise<void> {
  await startWriter(url, 'service', 0).ended
}

/** Null for what was cut off by the kill. */
function read(text: string): Line | null {
  try {
    return JSON.parse(text) as Line
  } catch {
    return null
  }
}
