import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { LIMITS } from '../../../../src/http/limits.ts'
import { shareOf } from '../../../../src/http/admission/peer-limit.ts'
import { CONNECTIONS_MAX } from '../../../../src/service.ts'
import { programIn } from '../../../cli/program.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { ask } from '../../../fixtures/requests.ts'
import { ROOT } from '../../../fixtures/tree.ts'
import { holdHostileSockets } from '../front/hostile-sockets.ts'
import { METER, socketsOf } from '../front/memory.ts'

/*
 * A client that opens more connections than one address may have. It has another address of this
 * machine than the loopback ones, which have no limit.
 */

const SHARE = shareOf(LIMITS.connectionsMax)
const BEYOND = 200

const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

async function hog(t: TestContext, TRUSTED_PROXIES: string) {
  assert.ok(ADDRESS !== undefined, 'the test needs a network interface beside the loopback one')
  const service = await programIn(t).serve({ preload: METER, env: { TRUSTED_PROXIES } })
  const sockets = holdHostileSockets(t, service.port, { [ADDRESS]: { silent: SHARE + BEYOND } })
  await sockets.open()
  await eventually(async () => socketsOf(service) >= SHARE)
  const open = socketsOf(service)
  assert.equal((await ask(service.port, { path: '/health' })).status, 200)
  service.kill('SIGTERM')
  const { stdout } = await service.ended
  return { open, lines: stdout.split('\n').filter((line) => line.includes('TooManyConnections')) }
}

test('one address has a quarter of the connections, and one line of the log says so', async (t) => {
  const { open, lines } = await hog(t, '')
  t.diagnostic(`${open} open`)
  assert.ok(open < SHARE + BEYOND / 2, `${open} open`)
  assert.equal(lines.length, 1)
  const { reason } = JSON.parse(lines[0]!)
  assert.ok(reason.startsWith(`${ADDRESS} has ${SHARE} connections to the API, `), reason)
  assert.match(reason, /If a proxy of yours has this address, add it to TRUSTED_PROXIES$/)
})

test('the log names each refused listener, however close together they refuse', async (t) => {
  const limits = JSON.stringify(pathToFileURL(join(ROOT, 'src/http/limits.ts')))
  const preload = `import { LIMITS } from ${limits}
    LIMITS.connectionsMax = 8`
  const service = await programIn(t).serve({ preload })
  await service.written(/dashboard at/)
  const [, pagesPort] = /dashboard at [^ "]+:(\d+)/.exec(service.stdout()) ?? []
  const sockets: Socket[] = []
  const open = async (port: number, count: number) => {
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: ADDRESS })
      sockets.push(socket.on('error', () => {}))
      await once(socket, 'connect')
    }
  }
  await open(Number(pagesPort), shareOf(CONNECTIONS_MAX.dashboard))
  await open(service.port, shareOf(8))
  for (const pauseMs of [0, 1_100]) {
    await delay(pauseMs)
    await Promise.all([open(service.port, 1), open(Number(pagesPort), 1)])
  }
  for (const socket of sockets) socket.destroy()
  service.kill('SIGTERM')
  const { stdout } = await service.ended
  const named = [...stdout.matchAll(/ connections to the (\w+), as many/g)]
  assert.deepEqual(named.map(([, listener = '']) => listener).toSorted(), ['API', 'dashboard'])
})

test('a trusted proxy may have more', async (t) => {
  const { open, lines } = await hog(t, `192.0.2.77,${ADDRESS}`)
  t.diagnostic(`${open} open`)
  assert.ok(open >= SHARE + BEYOND, `${open} open`)
  assert.deepEqual(lines, [])
})
