import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { LIMITS } from '../../../../src/http/limits.ts'
import { shareOf } from '../../../../src/http/admission/peer-limit.ts'
import { programIn } from '../../../cli/program.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { ask } from '../../../fixtures/requests.ts'
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

test('a trusted proxy may have more', async (t) => {
  const { open, lines } = await hog(t, `192.0.2.77,${ADDRESS}`)
  t.diagnostic(`${open} open`)
  assert.ok(open >= SHARE + BEYOND, `${open} open`)
  assert.deepEqual(lines, [])
})
