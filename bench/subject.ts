import { readFileSync } from 'node:fs'
import type { Children } from './children.ts'

/** A process under load: the service, or what it is compared with. */
export interface Subject {
  name: string
  port: number
  /** What all its threads have used so far, in seconds. */
  cpuSeconds(): number
  /** VmRSS, in MiB. */
  residentMb(): number
  /** Requests it has answered so far. */
  answered: number
  /** The number of the key that it was not asked with for the longest time. */
  nextKey: number
}

const START_MS = 30_000
/** Linux counts in hundredths of a second for programs, whatever the kernel itself uses. */
const TICKS_PER_SECOND = 100

/** Starts a program that prints the address it listens on. */
export async function startSubject(
  children: Children,
  name: Subject['name'],
  [program, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv = {},
): Promise<Subject> {
  const child = children.start(program, args, { ...process.env, ...environment })
  const port = await new Promise<number>((resolve, reject) => {
    let printed = ''
    const fail = () => reject(new Error(`the process '${name}' did not start: ${printed}`))
    const timer = setTimeout(fail, START_MS)
    child.once('error', reject)
    child.once('close', fail)
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-10_000)
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)
      if (found === null) return
      clearTimeout(timer)
      resolve(Number(found[1]))
    })
  })

  return {
    name,
    port,
    answered: 0,
    nextKey: 0,
    cpuSeconds() {
      // The name in parentheses may have spaces in it; behind it utime and stime are the 12th and 13th field.
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
    },
    residentMb() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
    },
  }
}
