import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { once } from '../../../fixtures/within.ts'

export type Kind =
  | 'silent'
  | 'trickles'
  | 'half a head'
  | 'a head of maximum size'
  | 'many small pieces'
  | 'reads no answers'
  | 'reads no answers, without a pause'

/** A command to a process that holds sockets. */
export type Order = 'open' | 'destroy'

export interface HostileSockets {
  open(): Promise<void>
  destroy(): Promise<void>
}

/** Sockets in a process for each client address, since a process has a limit of open files. */
export function holdHostileSockets(
  t: { after(end: () => void): void },
  port: number,
  addresses: Record<string, Partial<Record<Kind, number>>>,
): HostileSockets {
  const main = fileURLToPath(new URL('./hostile-sockets-main.ts', import.meta.url))
  const holders = Object.entries(addresses).map(([address, counts]) =>
    fork(main, [String(port), address, JSON.stringify(counts)]),
  )
  t.after(() => {
    for (const holder of holders) holder.kill('SIGKILL')
  })
  async function give(order: Order): Promise<void> {
    const done = holders.map((holder) => once(holder, 'message'))
    for (const holder of holders) holder.send(order)
    await Promise.all(done)
  }
  return { open: () => give('open'), destroy: () => give('destroy') }
}
