import { createInterface } from 'node:readline'
import type { Children } from '../children.ts'

/**
 * Opens idle and trickling sockets, in a process of their own. The returned function closes them
 * and waits until the service has closed them, too. It returns how many the service had closed
 * before.
 */
export async function holdSockets(children: Children, port: number, count: number) {
  const program = `${import.meta.dirname}/holder-main.ts`
  const holder = children.start(process.execPath, [program, String(port), String(count)])
  const lines = createInterface(holder.stdout!)[Symbol.asyncIterator]()
  async function nextLine(): Promise<string> {
    const line = await lines.next()
    if (line.done === true) throw new Error(`the process that holds ${count} sockets has ended`)
    return line.value
  }
  await nextLine()
  return async () => {
    holder.kill('SIGTERM')
    return Number(await nextLine())
  }
}
