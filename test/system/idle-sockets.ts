import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Connections that ask for nothing, held by a thread of their own so that nothing else waits for them. */
export interface IdleSockets {
  open(): Promise<void>
  /** Lets go of all of them. */
  drop(): Promise<void>
  /** Waits until the service has ended all that were opened last; what it said to each, and after how long. */
  ended(): Promise<Ending[]>
}

export interface Ending {
  /** Since the connection was made. */
  milliseconds: number
  /** The first line of what was said to it. */
  said: string
}

/** What the thread does, and says when it has done it. */
export type Order = 'open' | 'drop' | 'ended'

export async function holdIdleSockets(
  t: { after(end: () => Promise<unknown>): void },
  port: number,
  count: number,
): Promise<IdleSockets> {
  const url = new URL('./idle-sockets-main.ts', import.meta.url)
  const worker = new Worker(url, { workerData: { port, count } })
  t.after(() => worker.terminate())
  async function give(order: Order): Promise<unknown> {
    worker.postMessage(order)
    const [result] = await once(worker, 'message')
    return result
  }
  return {
    open: async () => void (await give('open')),
    drop: async () => void (await give('drop')),
    ended: async () => (await give('ended')) as Ending[],
  }
}
