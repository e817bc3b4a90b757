import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ends } from './ends.ts'
import { now, type Operation } from './record.ts'

/** Debian's libfaketime: what runs under it reads the time of day from us, while other programs see the machine's. */
const LIBRARY = `/usr/lib/${arch() === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`

export function canSetClocks(): boolean {
  return existsSync(LIBRARY)
}

/** The time of day of one program, with all its processes. Its monotonic clock is the machine's, as everybody's. */
export interface SetClock {
  /** What the program is to be started with. */
  env: Record<string, string>
  /** Sets it by so many whole seconds more, from one moment to the next, while the program runs. */
  step(seconds: number): void
}

export function makeClock(t: Ends): SetClock {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-clock-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // A server of another user's is to read it.
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  let total = 0
  const write = () => {
    // Whoever reads it meanwhile reads the old one or the new one.
    writeFileSync(`${file}.new`, `${total < 0 ? '' : '+'}${total}\n`)
    renameSync(`${file}.new`, file)
  }
  write()
  return {
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    },
    step(seconds) {
      total += seconds
      write()
    },
  }
}

/** Sets a clock, and says so as it stands in a record. */
export function stepClock(
  clock: SetClock,
  seconds: number,
  operation: 'step' | 'shown step',
): Operation {
  const t0 = now()
  clock.step(seconds)
  const nobody = { key: '', owner: '', connection: 0, place: 0 }
  return { operation, ...nobody, t0, t1: now(), status: 200, body: String(seconds) }
}

/** The library leaves names in shared memory, for programs that a process starts and ours does not. */
export function removeNamesOf(pid: number): void {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(join('/dev/shm', name), { force: true })
}
