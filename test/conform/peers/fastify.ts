import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import { refuseByModel } from '../../../conform/test/implementation/hono.ts'
import type { Model } from '../../../conform/test/implementation/model.ts'

/** The part of Fastify that the test uses. The root has no types of it. */
interface App {
  server: Server
  addContentTypeParser(type: string, parse: (...args: unknown[]) => void): void
  setNotFoundHandler(handler: Handler): void
  listen(options: { host: string; port: number }): Promise<string>
  close(): Promise<void>
}

type Handler = (
  request: { raw: { method?: string; url?: string; headers: Record<string, unknown> } },
  reply: { code(status: number): Reply },
) => Promise<unknown>

interface Reply {
  headers(fields: Record<string, string>): Reply
  send(body: string | undefined): unknown
}

/** A model of the API behind stock Fastify of `bench/peers/`. Returns its port. */
export async function serveByFastify(t: Pick<TestContext, 'after'>, model: Model): Promise<number> {
  const load = createRequire(join(ROOT, 'bench/peers/fastify-main.js'))
  const app = (load('fastify') as (options: object) => App)({
    exposeHeadRoutes: false,
    frameworkErrors: () => {},
  })
  // Routes of Fastify normalize paths, so the model looks at all of them itself.
  app.setNotFoundHandler(async ({ raw }, reply) => {
    const { status, headers, body } = await model.answer({
      method: raw.method ?? '',
      url: raw.url ?? '',
      field: (name) => raw.headers[name] as string | undefined,
    })
    return reply
      .code(status)
      .headers(headers)
      .send(status === 204 ? undefined : body)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  refuseByModel(app.server, model)
  t.after(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return (app.server.address() as AddressInfo).port
}
