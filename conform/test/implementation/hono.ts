import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Model, ModelAnswer } from './model.ts'

/** A model of the API behind stock Hono on Node.js. Returns its port. */
export async function serveByHono(t: Pick<TestContext, 'after'>, model: Model): Promise<number> {
  const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>()
  app.all('*', async ({ env: { incoming } }) => {
    const { status, headers, body } = await model.answer({
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      field: (name) => incoming.headers[name]?.toString(),
    })
    return new Response(status === 204 || status === 304 ? null : body, { status, headers })
  })
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  refuseByModel(server, model)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  if (!server.listening) await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Gives the refusals of Node.js, which a framework does not see, the form of the API. */
export function refuseByModel(server: Server, model: Model): void {
  server.removeAllListeners('clientError')
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return
    const status = STATUSES[error.code ?? ''] ?? 400
    socket.end(render(model.refuse(status)), 'latin1')
  })
}

const STATUSES: Record<string, 404 | 431> = {
  HPE_INVALID_METHOD: 404,
  HPE_HEADER_OVERFLOW: 431,
}

function render({ status, headers, body }: ModelAnswer): string {
  const fields = { ...headers, 'Content-Length': String(body.length), Connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
