import { createInterface } from 'node:readline'
import type { Children } from '../children.ts'

const PROGRAM = `${import.meta.dirname}/holder-main.ts`

/** Sockets that ask for nothing, or for it very slowly, held by a process of their own. */
export interface Held {
  /** Returns once the service has let go of them too: how many of them it had ended by itself before. */
  letGo(): Promise<number>
}

/** Opens so many. */
export async function holdSockets(children: Children, port: number, count: number): Promise<Held> {
  const holder = children.start(process.execPath, [PROGRAM, String(port), String(count)])
  const lines = createInterface(holder.stdout!)[Symbol.asyncIterator]()
  async function nextLine(): Promise<string> {
    const line = await lines.next()
    if (line.done === true) throw new Error(`who was to hold ${count} sockets has ended`)
    return line.value
  }
  await nextLine()
  return {
    async letGo() {
      holder.kill('SIGTERM')
      return Number(await nextLine())
    },
  }
}
