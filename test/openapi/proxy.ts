import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { UNKNOWN_PATH } from './description.ts'
import { readAnswer } from '../wire/client/read-answer.ts'
import { readHead } from '../wire/reference/read-head.ts'
import type { Exchange, Validate } from './validator.ts'
import { once } from '../fixtures/within.ts'

/** A proxy that passes every byte unchanged, and compares each exchange with the description. */
export interface ValidatingProxy {
  port: number
  exchanges: Exchange[]
  /** Where an exchange and the description differ. A client has not seen that answer before. */
  complaints: string[]
  close(): void
}

export async function startValidatingProxy(
  targetPort: number,
  validate: Validate,
): Promise<ValidatingProxy> {
  const exchanges: Exchange[] = []
  const complaints: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const reader = createExchangeReader((exchange) => {
      exchanges.push(exchange)
      complaints.push(...validate(exchange))
    })
    pass(near, far, reader.requested)
    pass(far, near, (text) => {
      try {
        reader.answered(text)
      } catch (error) {
        complaints.push(String(error))
      }
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    exchanges,
    complaints,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Passes bytes, the end of one direction, and resets. */
function pass(from: Socket, to: Socket, observe: (text: string) => void): void {
  from.on('data', (bytes) => {
    observe(bytes.toString('latin1'))
    to.write(bytes)
  })
  from.on('end', () => to.end())
  from.on('error', () => to.destroy())
  from.on('close', () => {
    if (!from.readableEnded) to.destroy()
  })
}

/** Reads the requests and answers of one connection, and matches them by their order. */
function createExchangeReader(add: (exchange: Exchange) => void) {
  let requests = ''
  let answers = ''
  let at = 0
  return {
    requested(text: string) {
      requests += text
    },
    answered(text: string) {
      answers += text
      for (;;) {
        const { method, path, end } = requestAt(requests, at)
        const answer = readAnswer(answers, 0, method === 'HEAD')
        if (typeof answer === 'number') return
        answers = answers.slice(answer.text.length)
        at = end
        add({ method, path, answer })
      }
    },
  }
}

const REQUEST_LINE = /^[\r\n]*([A-Z_-]+) +([!-~]+) +HTTP\//
const METHOD = /^[\r\n]*(GET|HEAD|OPTIONS) /

/** The method and path of a request. Of broken bytes, it reads as much as possible. */
function requestAt(text: string, at: number): Pick<Exchange, 'method' | 'path'> & { end: number } {
  const head = readHead(text, at)
  if (head !== null && typeof head !== 'number')
    return { method: head.method, path: pathOf(head.target), end: head.end }
  const rest = text.slice(at)
  const [, method = METHOD.exec(rest)?.[1] ?? 'GET', target = UNKNOWN_PATH] =
    REQUEST_LINE.exec(rest) ?? []
  return { method, path: pathOf(target), end: text.length }
}

function pathOf(target: string): string {
  const [, rest = target] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
  const [path = ''] = rest.split('?')
  return path === '' ? '/' : path
}
