import { connect } from 'node:net'

/** An answer of the service, in the parts that a bare server needs to send the same bytes. */
export interface Answer {
  status: number
  /** Names and values in turn, without those that Node.js adds itself. */
  headers: string[]
  /** One character for each byte. */
  body: string
  keepAliveMs: number
}

const ADDED_BY_NODE = ['Date', 'Connection', 'Keep-Alive']
const WAIT_MS = 10_000

/** One request on a connection of its own; the answer to the byte, with one character for each. */
export function fetchRaw(port: number, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1')
    socket.setTimeout(WAIT_MS, () => socket.destroy(new Error(`no answer in ${WAIT_MS} ms`)))
    socket.on('error', reject)
    socket.on('data', (text: string) => {
      received += text
      if (!isWhole(received)) return
      resolve(received)
      socket.destroy()
    })
    socket.write(requestText(port, key), 'latin1')
  })
}

/** The request that every driver sends. */
export function requestText(port: number, key: string): string {
  return `GET /v1/servers HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`
}

export function parseAnswer(raw: string): Answer {
  const [head = '', body = ''] = raw.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const pairs = lines.map((line) => line.split(': ') as [string, string])
  const keepAlive = pairs.find(([name]) => name === 'Keep-Alive')?.[1] ?? ''
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: pairs.filter(([name]) => !ADDED_BY_NODE.includes(name)).flat(),
    body,
    keepAliveMs: Number(/timeout=(\d+)/.exec(keepAlive)?.[1] ?? 5) * 1000,
  }
}

/** What two servers must agree in: the whole answer but the moment it was sent. */
export function withoutDate(raw: string): string {
  return raw.replace(/\r\nDate: [^\r]+/, '')
}

function isWhole(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const length = /\r\nContent-Length: (\d+)/i.exec(received.slice(0, headEnd))?.[1]
  return received.length >= headEnd + 4 + Number(length ?? 0)
}
