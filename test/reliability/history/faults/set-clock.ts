import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceClock } from '../../../fixtures/postgres/clock.ts'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import type { Ends } from '../battlefield/ends.ts'
import { now, type Operation } from '../record/record.ts'

/**
 * Debian's libfaketime. A program under it reads the time of day from us; other programs read the
 * machine's.
 */
const LIBRARY = `/usr/lib/${arch() === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`

export function canSetClocks(): boolean {
  return existsSync(LIBRARY)
}

/** A time of day that a test moves. The monotonic clock stays the machine's. */
export interface SetClock {
  /** Moves the clock by this many whole seconds at one instant, while its programs run. */
  step(seconds: number): void
}

/** The time of day of one program and its child processes. */
export interface ProgramClock extends SetClock {
  /** Environment to start the program with. */
  env: Record<string, string>
}

export function makeClock(t: Ends): ProgramClock {
  const { file, step } = makeOffset(t)
  return {
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    },
    step,
  }
}

/**
 * The clock by which a new database decides and stamps claims. The server can't run under
 * libfaketime: its handlers of signals read the time, and there the library's allocations corrupt
 * the heap.
 */
export async function makeDatabaseClock(t: Ends, url: string): Promise<SetClock> {
  const { file, step } = makeOffset(t)
  await asAdmin(url, (client) =>
    client.query(
      replaceClock(
        `SELECT clock_of_server() + make_interval(secs => pg_read_file('${file}')::float8)`,
      ),
    ),
  )
  return { step }
}

/** A file with the seconds by which a clock was set in all. Every reading of the clock reads it. */
function makeOffset(t: Ends): SetClock & { file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-clock-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // A server that runs as another user has to read it.
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  let total = 0
  const write = () => {
    // A reader gets the old file or the new one, never a part.
    writeFileSync(`${file}.new`, `${total < 0 ? '' : '+'}${total}\n`)
    renameSync(`${file}.new`, file)
  }
  write()
  return {
    file,
    step(seconds) {
      total += seconds
      write()
    },
  }
}

/** Sets a clock and returns the entry for the record. */
export function stepClock(
  clock: SetClock,
  seconds: number,
  operation: 'step' | 'shown step',
): Operation {
  const t0 = now()
  clock.step(seconds)
  const nowhere = { key: '', owner: '', connection: 0, place: 0, process: 0 }
  return { operation, ...nowhere, t0, t1: now(), status: 200, body: String(seconds) }
}

/**
 * The library leaves names in shared memory for child processes, which our programs don't start.
 */
export function removeNamesOf(pid: number): void {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(join('/dev/shm', name), { force: true })
}
