import { once } from 'node:events'
import { delimiter, dirname, join } from 'node:path'
import type { Children } from './children.ts'

/** A server under load, as a process. */
export interface Subject {
  name: string
  port: number
  pid: number
  /** Requests that load generators have had answered so far. */
  answered: number
  /** Kills it, and resolves when it has ended. */
  end(): Promise<void>
}

const START_MS = 30_000

/**
 * Starts the service of a tree the way an operator does, on the database of this URL. `environment`
 * has settings that differ from the usual ones.
 */
export function startServe(
  children: Children,
  name: string,
  url: string,
  tree = join(import.meta.dirname, '..'),
  environment: NodeJS.ProcessEnv = {},
): Promise<Subject> {
  return startSubject(children, name, [programOf(tree), 'serve'], {
    ...programEnvironment(url),
    ...environment,
  })
}

export function programOf(tree: string): string {
  return join(tree, 'bin/server-listing.js')
}

/** What the program gets to know, with a database and with free ports. */
export function programEnvironment(url: string): NodeJS.ProcessEnv {
  return {
    // The program's first line finds Node.js by name. It must find the Node.js of this process.
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    DATABASE_URL: url,
    HOST: '127.0.0.1',
    PORT: '0',
    DASHBOARD_PORT: '0',
    OPS_PORT: '0',
    LOG_LEVEL: 'info',
  }
}

/** Starts a program that prints the address it listens on. */
export async function startSubject(
  children: Children,
  name: string,
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
  const end = async () => {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  return { name, port, pid: child.pid!, answered: 0, end }
}
