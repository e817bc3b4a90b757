import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TestContext } from 'node:test'

/** A shell command that calls a function of this process and returns after it. */
export async function revokeOn(
  t: Pick<TestContext, 'after'>,
  revoke: () => unknown,
): Promise<string> {
  const server = createServer((socket) => {
    void Promise.resolve(revoke()).then(() => socket.end('revoked\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const script = `require('net').connect(${port}, '127.0.0.1').resume()`
  return `'${process.execPath}' -e "${script}"`
}
