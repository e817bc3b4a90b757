import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { apiKeys } from '../../src/keys/records/api-keys.ts'
import { NotConfigured } from '../../src/model/faults.ts'
import { startService } from '../../src/service.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { answerTo, ask } from '../fixtures/requests.ts'
import { once } from '../fixtures/within.ts'
import { type Door, newToken, openDoor } from './door.ts'

/* Bodies that are no documents or arrive late, and what happens meanwhile. */

const PATH = '/v1/users/7/keys'

async function keysOf({ store }: Door, { id }: { id: string }): Promise<number> {
  return (await apiKeys(store.database).listApiKeys(id)).length
}

/** A request whose head and first byte of `{"name":"bot"}` have been sent. */
async function begin(door: Door): Promise<ClientRequest> {
  const outgoing = request({
    host: '127.0.0.1',
    port: door.port,
    method: 'POST',
    path: PATH,
    headers: {
      authorization: `Bearer ${door.token}`,
      'content-type': 'application/json',
      'content-length': '14',
    },
  })
  outgoing.write('{')
  await once(outgoing, 'socket')
  await delay(100)
  return outgoing
}

const REST = '"name":"bot"}'

const sized = (bytes: number) => `${JSON.stringify({ name: 'bot' })}${' '.repeat(bytes - 14)}`

test('a body has at most a million bytes, however it is sent', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  await door.read(201, `POST ${PATH}`, { body: sized(1_000_000) })
  for (const bytes of [1_000_001, 3_000_000])
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await door.send(`POST ${PATH}`, { body: sized(bytes), headers })
      assert.equal(answer.status, 413)
      assert.match(answer.body, /up to 1,000,000 bytes/)
      assert.equal(answer.headers.connection, 'close')
    }
})

test('a body is JSON in UTF-8, and says so', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('7')
  const body = { name: 'bot' }
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json;charset=latin1',
    'application/jsonp',
    '',
  ]) {
    const answer = await door.send(`POST ${PATH}`, { body, headers: { 'content-type': type } })
    assert.equal(answer.status, 415, type)
  }
  for (const wrong of [
    '{"name":"bot"',
    '{"name":"bot"}}',
    "{'name':'bot'}",
    'name',
    ' ',
    Buffer.from('{"name":"\xff"}', 'latin1'),
    Buffer.from('{"name":"bot"}', 'utf16le'),
  ])
    assert.deepEqual(await door.read(400, `POST ${PATH}`, { body: wrong }), {
      error: 'The body is not JSON in UTF-8.',
    })
  assert.equal(await keysOf(door, user), 0)
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])
    await door.read(201, `POST ${PATH}`, { body, headers: { 'content-type': type } })
})

test('a body that is cut off does nothing', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('7')
  const outgoing = await begin(door)
  outgoing.on('error', () => {})
  outgoing.destroy()
  await delay(200)
  assert.equal(await keysOf(door, user), 0)
  assert.deepEqual(door.faults, [])
  await door.read(201, `POST ${PATH}`, { body: { name: 'bot' } })
})

test('a token that is removed before the end of the body does nothing', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('7')
  const outgoing = await begin(door)
  writeFileSync(door.tokensFile, newToken('other').line)
  const { status } = await answerTo(outgoing, REST)
  assert.deepEqual([status, await keysOf(door, user)], [401, 0])
})

test('a request under way is answered before the service ends, and no new one', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  const outgoing = await begin(door)
  const closed = door.service.close()
  await assert.rejects(door.send('GET /v1/users/7'), { code: 'ECONNREFUSED' })
  const { status, body } = await answerTo(outgoing, REST)
  assert.equal(status, 201, body)
  await closed
})

test('what is no request gets JSON, too', async (t) => {
  const door = await openDoor(t)
  const { status, body } = await ask(door.port, {
    path: '/v1/users/7',
    headers: { 'x-long': 'x'.repeat(40_000) },
  })
  assert.deepEqual([status, body], [431, '{"error":"Request header fields too large."}'])
})

test('without its database the service says 503, and the log has the fault', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const door = await openDoor(t, { open: async () => ({ engine: 'sqlite', path }) })
  await door.addUser('7')
  rmSync(path)
  await delay(250)
  const { status, headers, body } = await door.send('GET /v1/users/7')
  assert.equal(status, 503)
  assert.match(JSON.parse(body).error, /^The management API is not available right now\. Send/)
  assert.equal(headers['retry-after'], '5')
  assert.match(String(headers['x-request-id']), /^5f0c1e9a7b3d-\d+$/)
  assert.equal((await door.send('GET /v1/users/7', { token: null })).status, 401)
})

test('a service without a database says so to a known token', async (t) => {
  const tokensFile = join(temporaryFolder(t), 'tokens')
  const { token, line } = newToken('site')
  writeFileSync(tokensFile, line)
  const service = await startService({
    store: null,
    problem: new NotConfigured('there is none'),
    host: '127.0.0.1',
    port: 0,
    log: { fault: () => undefined, http() {} },
    dashboard: { port: 0, baseUrl: null, dashboardUrl: null, signUp: 'closed', trustedProxies: [] },
    management: { host: '127.0.0.1', port: 0, tokensFile, warn: assert.fail },
  })
  t.after(() => service.close())
  const { port } = service.management!
  const { status, body } = await ask(port, { path: '/v1/users/7', key: token })
  assert.deepEqual([status, body], [503, '{"error":"API server is not configured."}'])
  assert.equal((await ask(port, { path: '/v1/users/7' })).status, 401)
})

test('a token has at most 100 requests that wait', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const door = await openDoor(t, { open: async () => ({ engine: 'sqlite', path }) })
  await door.addUser('7')
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const statuses: number[] = []
  const all = Array.from({ length: 110 }, async () => {
    const { status, headers } = await door.send(`POST ${PATH}`, { body: { name: 'bot' } })
    if (status === 429) assert.equal(headers['retry-after'], '1')
    statuses.push(status)
    if (statuses.length === 9) other.exec('ROLLBACK')
  })
  await Promise.all(all)
  const counts = [201, 409, 429].map((one) => statuses.filter((status) => status === one).length)
  assert.deepEqual(counts, [5, 96, 9])
})
