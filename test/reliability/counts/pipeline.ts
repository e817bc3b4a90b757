import { connect, type Socket } from 'node:net'
import { once } from '../../fixtures/within.ts'

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** One connection that sends several requests in one packet. */
export interface Pipeline {
  /** Sends one request for each key and resolves to the statuses of the answers. */
  ask(keys: readonly string[]): Promise<number[]>
  end(): void
}

export async function openPipeline(port: number): Promise<Pipeline> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay()
  return {
    async ask(keys) {
      socket.write(keys.map(requestWith).join(''))
      return readStatuses(socket, keys.length)
    },
    end: () => socket.destroy(),
  }
}

function requestWith(key: string): string {
  return `GET /v1/servers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
}

async function readStatuses(socket: Socket, count: number): Promise<number[]> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const statuses = statusesIn(bytes)
    if (statuses.length === count) return statuses
    const [chunk] = await once(socket, 'data')
    bytes = Buffer.concat([bytes, chunk])
  }
}

/** The statuses of the complete answers. */
function statusesIn(bytes: Buffer): number[] {
  const statuses: number[] = []
  let at = 0
  for (;;) {
    const endOfHead = bytes.indexOf(END_OF_HEAD, at)
    if (endOfHead === -1) return statuses
    const head = bytes.toString('latin1', at, endOfHead)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    at = endOfHead + END_OF_HEAD.length + length
    if (at > bytes.length) return statuses
    statuses.push(Number(head.slice(9, 12)))
  }
}
