import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'

/** Below the range from which the system takes the ports of outgoing connections. */
const PORTS = { first: 20_000, last: 32_000 }

export interface DaemonOptions {
  /** The port on which it listens when it has started. */
  port: number
  /** Its output goes to this file, because a pipe can fill up. */
  log: string
  uid?: number | undefined
  gid?: number | undefined
  env?: NodeJS.ProcessEnv
}

/** Starts a program that stays in the foreground, and kills it after the test. */
export async function startDaemon(
  t: Pick<TestContext, 'after'>,
  program: string,
  args: readonly string[],
  { port, log, uid, gid, env = process.env }: DaemonOptions,
): Promise<ChildProcess> {
  const output = openSync(log, 'a')
  const child = spawn(program, args, { stdio: ['ignore', output, output], uid, gid, env })
  t.after(() => endDaemon(child, 'SIGKILL'))
  while (!(await isListening(port))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${program} ended: ${readFileSync(log, 'utf8')}`)
    await delay(20)
  }
  return child
}

export async function endDaemon(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/** For programs that can't pick a port. No outgoing connection takes the port meanwhile. */
export async function freeFixedPort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
