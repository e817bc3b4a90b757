import { once } from 'node:events'
import { connect } from 'node:net'

/** One connection. It has at most one request without an answer. */
export interface Client {
  ask(text: string, answered: (status: number) => void): void
  close(): void
}

/**
 * All connections read into this buffer, because each parses its bytes before another one reads.
 * Thousands of connections then need no more memory, and garbage collection does not add pauses
 * that would count as latency.
 */
const BUFFER = Buffer.alloc(64 * 1024)

/** Opens `count` connections to a port of 127.0.0.1. */
export function openClients(port: number, count: number): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => openClient(port)))
}

async function openClient(port: number): Promise<Client> {
  let answered: ((status: number) => void) | undefined
  /** The first part of a head whose end has not arrived yet. */
  let head = ''
  /** Bytes of the answer that have not arrived yet. Null before its head has arrived. */
  let missing: number | null = null

  function receive(bytes: number): boolean {
    if (missing === null) {
      head += BUFFER.toString('latin1', 0, bytes)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return true
      missing = end + 4 + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1]) - head.length
    } else missing -= bytes
    if (missing <= 0) complete()
    return true
  }

  function complete(): void {
    const [tell, status] = [answered, Number(head.slice(9, 12))]
    answered = undefined
    head = ''
    missing = null
    // Before the service closes an idle connection, it may send an error that answers no request.
    tell?.(status)
  }

  const onread = { buffer: BUFFER, callback: receive }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  await once(socket, 'connect')
  // A request on a lost connection stays unanswered.
  socket.on('error', () => {})
  return {
    ask(text, tell) {
      answered = tell
      socket.write(text, 'latin1')
    },
    close: () => socket.destroy(),
  }
}
