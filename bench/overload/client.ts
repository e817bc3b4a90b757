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

export async function openClient(port: number): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  // What was under way on a connection that is lost stays unanswered.
  socket.on('error', () => {})
  const pending: { dueAt: number; told: Told }[] = []
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (;;) {
      const headEnd = received.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const length = Number(/\r\nContent-Length: (\d+)/i.exec(received)?.[1])
      const end = headEnd + 4 + length
      if (received.length < end) return
      const asked = pending.shift()
      // Before it closes a connection that it has nothing to answer on, the service may say so.
      asked?.told(Number(received.slice(9, 12)), performance.now() - asked.dueAt)
      received = received.slice(end)
    }
  })
  return {
    ask(text, dueAt, told) {
      pending.push({ dueAt, told })
      socket.write(text, 'latin1')
    },
    underWay: () => pending.length,
    close: () => socket.destroy(),
  }
}
