import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { assertRefused, commandsIn } from './command.ts'

test('health tells another program from the service', async (t) => {
  let body = ''
  const endless = Readable.from(
    (function* () {
      for (;;) yield '{"ready":true,"checks":{}}'.padEnd(65_536)
    })(),
  )
  const other = createServer((_, outgoing) =>
    body === 'endless' ? endless.pipe(outgoing) : outgoing.end(body),
  )
  other.listen(0, '127.0.0.1')
  t.after(() => other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const program = commandsIn(t)
  for (body of ['{"ready":"yes"}', 'null', '{"ready":false,"checks":null}', 'ready', 'endless']) {
    const refused = await program.run('health', { env: { OPS_PORT: String(port) } })
    assertRefused(refused, 1, `http://127.0.0.1:${port}/readyz is another program`)
  }
})
