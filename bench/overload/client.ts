import { once } from 'node:events'
import { connect } from 'node:net'

/** Told of an answer: its status, and the milliseconds since it was due. */
export type Told = (status: number, latency: number) => void

/** One connection, on which requests are sent without waiting for the answers to those before. */
export interface Client {
  ask(text: string, dueAt: number, told: Told): void
  underWay(): number
  close(): void
}

/** What any connection reads is read into here, and looked at before the next is read: thousands take no more room. */
const BUFFER = Buffer.alloc(64 * 1024)

export async function openClient(port: number): Promise<Client> {
  const pending: { dueAt: number; told: Told }[] = []
  /** Of a head that has not ended yet. */
  let beginning = ''
  /** Bytes of a body that are still to come. */
  let missing = 0
  let status = 0

  function receive(bytes: number): boolean {
    let at = 0
    while (at < bytes) {
      if (missing === 0) {
        const text = beginning + BUFFER.toString('latin1', at, bytes)
        const end = text.indexOf('\r\n\r\n')
        if (end === -1) {
          beginning = text
          return true
        }
        status = Number(text.slice(9, 12))
        missing = Number(/\r\nContent-Length: (\d+)/i.exec(text)?.[1])
        at += end + 4 - beginning.length
        beginning = ''
      }
      const taken = Math.min(missing, bytes - at)
      at += taken
      missing -= taken
      if (missing > 0) return true
      // Before it closes a connection that it has nothing to answer on, the service may say so.
      const asked = pending.shift()
      asked?.told(status, performance.now() - asked.dueAt)
    }
    return true
  }

  const onread = { buffer: BUFFER, callback: receive }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  await once(socket, 'connect')
  // What was under way on a connection that is lost stays unanswered.
  socket.on('error', () => {})
  return {
    ask(text, dueAt, told) {
      pending.push({ dueAt, told })
      socket.write(text, 'latin1')
    },
    underWay: () => pending.length,
    close: () => socket.destroy(),
  }
}
