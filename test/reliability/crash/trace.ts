import { basename, dirname } from 'node:path'

/** The changes of a process to the files of one database, and its output, ordered by their ends. */
export type Event =
  | { event: 'create' | 'unlink'; file: string }
  /** Keeps the first `changes` writes and truncations of the file: those before the call began. */
  | { event: 'sync'; file: string; changes: number }
  | { event: 'write'; file: string; offset: number; bytes: Buffer }
  | { event: 'truncate'; file: string; size: number }
  | { event: 'printed'; text: string }

/** Records these calls completely, with all bytes in hex. */
export const STRACE = [
  '--follow-forks',
  '--trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,rename,close',
  '--strings-in-hex=all',
  '--string-limit=10000000',
]

/** The folder itself, which can be synchronized like a file. */
const FOLDER = '.'

/** Parses strace's output. Events name files of the database's folder without the folder. */
export function readTrace(trace: string, databasePath: string): Event[] {
  const folder = dirname(databasePath)
  const open = new Map<number, string>()
  const existing = new Set<string>()
  const events: Event[] = []
  /** The sizes of files that are only appended to. */
  const sizes = new Map<string, number>()
  /** The number of changes of each file, and of those before a call that a thread has not ended. */
  const changes = new Map<string, number>()
  const changesBefore = new Map<string, number>()
  for (const { pid, name, args, result } of callsIn(trace)) {
    const fd = Number.parseInt(args, 10)
    const opened = open.get(fd)
    if (result === null) {
      changesBefore.set(pid, changes.get(opened ?? '') ?? 0)
      continue
    }
    const before = changesBefore.get(pid)
    changesBefore.delete(pid)
    if (result < 0) continue
    if (name === 'openat') {
      const path = stringIn(args).toString()
      open.delete(result)
      if (path !== folder && dirname(path) !== folder) continue
      const file = path === folder ? FOLDER : basename(path)
      open.set(result, file)
      if (file === FOLDER || existing.has(file) || !args.includes('O_CREAT')) continue
      existing.add(file)
      changes.delete(file)
      events.push({ event: 'create', file })
    } else if (name === 'unlink') {
      const path = stringIn(args).toString()
      if (dirname(path) !== folder) continue
      existing.delete(basename(path))
      events.push({ event: 'unlink', file: basename(path) })
    } else if (name === 'write' && fd === 1) {
      events.push({ event: 'printed', text: stringIn(args).toString() })
    } else if (name === 'close') {
      open.delete(fd)
    } else {
      const file = opened
      if (file === undefined) continue
      const count = changes.get(file) ?? 0
      if (SYNCS.has(name)) events.push({ event: 'sync', file, changes: before ?? count })
      else {
        const size = sizes.get(file) ?? 0
        if (name === 'write') sizes.set(file, size + result)
        events.push(changeOf(name, file, size, args, result))
        changes.set(file, count + 1)
      }
    }
  }
  return events
}

const SYNCS = new Set(['fsync', 'fdatasync'])

/** A plain write begins at the end of the file. `result` is what the call returned. */
function changeOf(name: string, file: string, size: number, args: string, result: number): Event {
  const last = Number(args.slice(args.lastIndexOf(',') + 1))
  switch (name) {
    case 'write':
      return { event: 'write', file, offset: size, bytes: stringIn(args).subarray(0, result) }
    case 'pwrite64':
      return { event: 'write', file, offset: last, bytes: stringIn(args) }
    case 'ftruncate':
      return { event: 'truncate', file, size: last }
    default:
      throw new Error(`cannot interpret the call ${name} of ${file}`)
  }
}

interface Call {
  /** The thread. */
  pid: string
  name: string
  args: string
  /** Null when the call begins and another thread's calls come before its end. */
  result: number | null
}

/** Yields each finished call, and also the begin of one that is cut in two lines. */
function* callsIn(trace: string): Generator<Call> {
  const unfinished = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, pid = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const cut = text.indexOf(' <unfinished ...>')
    if (cut !== -1) {
      const [name = '', args = ''] = text.slice(0, cut).split('(', 2)
      unfinished.set(pid, text.slice(0, cut))
      yield { pid, name, args, result: null }
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1]
    const whole = resumed === undefined ? text : `${unfinished.get(pid) ?? ''}${resumed}`
    const begin = whole.indexOf('(')
    const end = whole.lastIndexOf(') ')
    const result = /= (-?\d+)/.exec(whole.slice(end))?.[1]
    if (begin === -1 || end === -1 || result === undefined) continue
    const args = whole.slice(begin + 1, end)
    yield { pid, name: whole.slice(0, begin), args, result: Number(result) }
  }
}

function stringIn(args: string): Buffer {
  const from = args.indexOf('"') + 1
  return Buffer.from(args.slice(from, args.indexOf('"', from)).replaceAll('\\x', ''), 'hex')
}
