import { basename, dirname } from 'node:path'

/** The changes of a process to the files of one database, and its output, ordered by their ends. */
export type Event =
  | { event: 'create' | 'unlink' | 'sync'; file: string }
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
  for (const { name, args, result } of callsIn(trace)) {
    if (result < 0) continue
    const fd = Number.parseInt(args, 10)
    if (name === 'openat') {
      const path = stringIn(args).toString()
      open.delete(result)
      if (path !== folder && dirname(path) !== folder) continue
      const file = path === folder ? FOLDER : basename(path)
      open.set(result, file)
      if (file === FOLDER || existing.has(file) || !args.includes('O_CREAT')) continue
      existing.add(file)
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
      const file = open.get(fd)
      if (file === undefined) continue
      if (name === 'write') {
        const offset = sizes.get(file) ?? 0
        sizes.set(file, offset + result)
        events.push({ event: 'write', file, offset, bytes: stringIn(args).subarray(0, result) })
      } else events.push(toEvent(name, file, args))
    }
  }
  return events
}

function toEvent(name: string, file: string, args: string): Event {
  const last = Number(args.slice(args.lastIndexOf(',') + 1))
  switch (name) {
    case 'pwrite64':
      return { event: 'write', file, offset: last, bytes: stringIn(args) }
    case 'ftruncate':
      return { event: 'truncate', file, size: last }
    case 'fsync':
    case 'fdatasync':
      return { event: 'sync', file }
    default:
      throw new Error(`cannot interpret the call ${name} of ${file}`)
  }
}

interface Call {
  name: string
  args: string
  result: number
}

/** Yields each finished call. A call that another thread interrupts has two lines, joined here. */
function* callsIn(trace: string): Generator<Call> {
  const unfinished = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, pid = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const cut = text.indexOf(' <unfinished ...>')
    if (cut !== -1) {
      unfinished.set(pid, text.slice(0, cut))
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1]
    const whole = resumed === undefined ? text : `${unfinished.get(pid) ?? ''}${resumed}`
    const begin = whole.indexOf('(')
    const end = whole.lastIndexOf(') ')
    const result = /= (-?\d+)/.exec(whole.slice(end))?.[1]
    if (begin === -1 || end === -1 || result === undefined) continue
    const args = whole.slice(begin + 1, end)
    yield { name: whole.slice(0, begin), args, result: Number(result) }
  }
}

function stringIn(args: string): Buffer {
  const from = args.indexOf('"') + 1
  return Buffer.from(args.slice(from, args.indexOf('"', from)).replaceAll('\\x', ''), 'hex')
}
