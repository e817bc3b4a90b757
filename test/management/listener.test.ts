import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDoor } from './door.ts'

/* Which requests the management API reads at all. */

test('every answer is JSON that no browser shares or keeps', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  for (const line of ['GET /v1/users/7', 'GET /v1/users/8', 'GET /nope']) {
    const { headers } = await door.send(line, { headers: { origin: 'https://evil.example' } })
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    )
  }
})

test('what is no route is not found, by its bytes', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  for (const line of [
    'GET /',
    'GET /v1/users',
    'GET /v1/users/',
    'GET /v1/users/7/',
    'GET //v1/users/7',
    'GET /v1/users/./7',
    'GET /V1/users/7',
    'GET /v1/servers',
    'POST /v1/users/7',
    'PUT /v1/users/7',
    'OPTIONS /v1/users/7',
    'DELETE /v1/users/7',
  ])
    assert.deepEqual(await door.read(404, line), { error: 'Not found.' }, line)
  assert.equal((await door.send('HEAD /v1/users/7')).status, 404)
})

test('on a loopback address, a foreign host name gets no answer', async (t) => {
  const door = await openDoor(t)
  const status = async (host: string) =>
    (await door.send('GET /v1/users/7', { headers: { host } })).status
  assert.equal(await status('evil.example'), 421)
  for (const host of ['127.0.0.1', 'localhost:1', '[::1]:8083'])
    assert.equal(await status(host), 404)
  assert.deepEqual(door.warnings, [])
})

test('on another address, the log asks for TLS', async (t) => {
  const { warnings } = await openDoor(t, { host: '0.0.0.0' })
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /^MANAGEMENT_HOST is 0\.0\.0\.0, .* Put a proxy with TLS in front/)
})
