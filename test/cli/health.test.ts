import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { freePort } from '../fixtures/free-port.ts'
import { assertRefused, commandsIn } from './command.ts'

test('health names the address where no service answers', async (t) => {
  const program = commandsIn(t)
  const env = { OPS_PORT: String(await freePort()), OPS_HOST: '0.0.0.0' }
  const refused = await program.run('health', { env })
  assertRefused(refused, 1, `http://127.0.0.1:${env.OPS_PORT}/readyz`, 'ECONNREFUSED', 'OPS_PORT')
  const { stdout } = await program.run('health --json', { env })
  assert.match(JSON.parse(stdout).problem, /no service answers/)
})

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

test('health needs a port, and a wait in seconds', async (t) => {
  const program = commandsIn(t)
  assertRefused(await program.run('health'), 2, 'OPS_PORT must be the port of the running service')
  for (const wait of ['-1', 'long', '3601', '1.5'])
    assertRefused(await program.run(['health', `--wait=${wait}`]), 2, '--wait must be', `"${wait}"`)
})
