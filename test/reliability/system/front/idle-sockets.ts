import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { once } from '../../../fixtures/within.ts'

/** Idle connections, held by a process of their own so that they delay nothing else. */
export interface IdleSockets {
  open(): Promise<void>
  /** Waits until the service has ended all of them. Returns what it sent to each, and when. */
  ended(): Promise<Ending[]>
}

export interface Ending {
  /** Milliseconds since the connection was made. */
  milliseconds: number
  /** The first line that the service sent. */
  said: string
}

/** A command to the process, which reports when it is done. */
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
