import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../fixtures/random.ts'

/*
 * System calls that fail for the files of one database: strace answers instead of the kernel. A
 * short write is real, caused by a limit on the size of the process's files.
 */

export interface FailingCall {
  name: string
  /** The calls by the names that strace uses. */
  calls: readonly string[]
  /** Their result. */
  inject: string
}

export const WRITES: FailingCall = { name: 'pwrite: EIO', calls: ['pwrite64'], inject: 'error=EIO' }

export const FAILING_CALLS: readonly FailingCall[] = [
  { name: 'fsync: EIO', calls: ['fsync', 'fdatasync'], inject: 'error=EIO' },
  WRITES,
  { name: 'pwrite: ENOSPC', calls: ['pwrite64'], inject: 'error=ENOSPC' },
  { name: 'pwrite: nothing written', calls: ['pwrite64'], inject: 'retval=0' },
  { name: 'pread: EIO', calls: ['pread64'], inject: 'error=EIO' },
]

/**
 * A disk that reports success and writes nothing. No database survives that, so that the test must
 * see the loss.
 */
export const LYING: FailingCall = { name: 'a lie', calls: ['pwrite64'], inject: 'retval=4096' }

const TRACED = 'trace=fsync,fdatasync,pwrite64,pread64'

/** Runs a program so that some of its calls fail, and counts those. */
export interface Injection {
  under: readonly string[]
  injected(): number
}

/** `when` is strace's syntax: the number of a call, or of the first one that fails. */
export function inject(path: string, { calls, inject }: FailingCall, when: string): Injection {
  const { under, traced } = straced(path, ['-e', `inject=${calls.join()}:${inject}:when=${when}`])
  return { under, injected: () => traced().split('(INJECTED)').length - 1 }
}

/** Runs a program and counts its calls. */
export function counting(path: string): {
  under: readonly string[]
  count(call: FailingCall): number
} {
  const { under, traced } = straced(path, [])
  const count = (name: string) => traced().split(` ${name}(`).length - 1
  return { under, count: ({ calls }) => calls.reduce((sum, name) => sum + count(name), 0) }
}

function straced(path: string, more: readonly string[]) {
  const output = join(mkdtempSync(`${path}-traced-`), 'calls')
  const options = ['--follow-forks', '--seccomp-bpf', `--output=${output}`, '-e', TRACED, ...more]
  const only = [path, `${path}-wal`].flatMap((file) => ['-P', file])
  return {
    under: ['strace', ...options, ...only],
    traced: () => readFileSync(output, 'latin1'),
  }
}

const SECTOR = 512
const WRITE = /pwrite64\(.*, (\d+), \d+\) += (-?\d+)/g

/** The index of the log takes 64, and without it the writer could not begin. */
const SECTORS_MIN = 65
/** A page takes eight sectors and two writes in the log. Half of them leaves room for the limit. */
const SECTORS_PER_WRITE = 2

/**
 * Limits the size of files so that a write is cut in two. The database is larger already; its log
 * is not. `writes` is the usual number of writes, so that the log usually grows to the limit.
 */
export function limitSize(path: string, random: Random, writes: number): Injection {
  const { under, traced } = straced(path, [])
  const sectorsMax = Math.min(statSync(path).size / SECTOR / 2, writes * SECTORS_PER_WRITE)
  const sectors = Math.floor(random.between(SECTORS_MIN, Math.max(SECTORS_MIN + 1, sectorsMax)))
  const limited = `trap '' XFSZ; ulimit -f ${sectors}; exec "$@"`
  return {
    under: [...under, 'sh', '-c', limited, 'sh'],
    injected: () =>
      [...traced().matchAll(WRITE)].filter(([, asked, done]) => asked !== done).length,
  }
}
