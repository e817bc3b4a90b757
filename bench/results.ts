import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { printed, type Result, type Table } from './table.ts'

/** What a whole run of a suite measured, and where. */
export interface Results {
  suite: string
  /** The day, as in 2026-01-31. */
  date: string
  commit: string
  machine: { processor: string; processors: number; 'memory in GiB': number; system: string }
  versions: Record<string, string | undefined>
  results: readonly { measured: string; value: number; target: string }[]
  tables: readonly Table[]
}

export const FOLDER = join(import.meta.dirname, 'results')

/** Versions of other programs that take part in the run. */
export const versions: Record<string, string> = {}

/** Replaces the file of the suite. */
export function writeResults(suite: string, results: readonly Result[]): void {
  const { node, v8, sqlite } = process.versions
  const processors = cpus()
  const written: Results = {
    suite,
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: {
      processor: processors[0]?.model ?? 'unknown',
      processors: processors.length,
      'memory in GiB': Math.round(totalmem() / 1024 ** 3),
      system: `Linux ${release()} ${arch()}`,
    },
    versions: { 'Node.js': node, V8: v8, SQLite: sqlite, ...versions },
    results: results.map(([measured, value, target]) => ({ measured, value, target })),
    tables: printed,
  }
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, `${suite}.json`), `${JSON.stringify(written, null, 2)}\n`)
}
