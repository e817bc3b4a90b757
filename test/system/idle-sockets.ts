import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Connections that ask for nothing, held by a process of their own so that nothing else waits for them. */
export interface IdleSockets {
  open(): Promise<void>
  /** Waits until the service has ended all of them; what it said to each, and after how long. */
  ended(): Promise<Ending[]>
}

export interface Ending {
  /** Since the connection was made. */
  milliseconds: number
  /** The first line of what was said to it. */
  said: string
}

/** What the process does, and says when it has done it. */
export type Order = 'open' | 'ended'

export function holdIdleSockets(
  t: { after(end: () => void): void },
  port: number,
  count: number,
): IdleSockets {
  const main = fileURLToPath(new URL('./idle-sockets-main.ts', import.meta.url))
  const holder = fork(main, [String(port), String(count)])
  t.after(() => holder.kill('SIGKILL'))
  async function give(order: Order): Promise<unknown> {
    const done = once(holder, 'message')
    holder.send(order)
    const [result] = await done
    return result
  }
  return {
    open: async () => void (await give('open')),
    ended: async () => (await give('ended')) as Ending[],
  }
}
