import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { recordsOf } from '../fixtures/records.ts'
import { ask } from '../fixtures/requests.ts'
import { uuidOf } from '../fixtures/uuid-of.ts'
import { addToken, type Door, enginesOn, openDoor } from './door.ts'

/* Documents of acts over HTTP. What each act does, the table of cases says. */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const ENGINES = enginesOn(() => server)

const key = `svc_live_${'0123456789abcdef'.repeat(4)}`

const DOCUMENT = {
  put_users: [
    { external_id: '1', email: 'Ada@example.com' },
    { external_id: '2', email: 'ada@example.com' },
  ],
  put_servers: [
    { id: uuidOf(1), external_id: '1', name: 'Survival', address: 'play.example.com' },
    { id: uuidOf(2), external_id: '3', name: 'Creative', address: 'play.example.com' },
  ],
  put_keys: [{ external_id: '1', name: 'bot', key_hash: hashOf(key) }],
}

function hashOf(text: string): string {
  return Buffer.from(
    process.getBuiltinModule('node:crypto').hash('sha256', text, 'buffer'),
  ).toString('hex')
}

const ANSWER = {
  put_users: {
    added: 2,
    changed: 0,
    refused: [{ row: 1, external_id: '2', reason: 'address taken' }],
  },
  put_servers: {
    added: 1,
    changed: 0,
    refused: [{ row: 1, id: uuidOf(2), reason: 'no such user' }],
  },
  put_keys: { added: 1, changed: 0, refused: [] },
}

const users = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ external_id: String(index) }))

const serverOf = (id: number, external_id: string) => ({
  id: uuidOf(id),
  external_id,
  name: 'one',
  address: 'play.example.com',
})

const perform = (door: Door, body: unknown, token = door.token) =>
  door.read(200, 'POST /v1/acts', { body, token })

for (const [engine, open] of Object.entries(ENGINES)) {
  test(`on ${engine}, a document is done, and once more it changes nothing`, async (t) => {
    const door = await openDoor(t, { open })
    const tried = await door.read(200, 'POST /v1/acts?dry-run', { body: DOCUMENT })
    assert.deepEqual(tried, ANSWER)
    assert.equal((await door.send('GET /v1/users/1')).status, 404)

    assert.deepEqual(await perform(door, DOCUMENT), ANSWER)
    const { body } = await ask(door.service.port, { key })
    assert.deepEqual(
      JSON.parse(body).servers.map(({ name }: { name: string }) => name),
      ['Survival'],
    )
    const { email, keys } = await door.read(200, 'GET /v1/users/1')
    assert.deepEqual([email, (keys as unknown[]).length], ['ada@example.com', 1])
    // As after an answer that got lost.
    const none = { added: 0, changed: 0 }
    assert.deepEqual(await perform(door, DOCUMENT), {
      put_users: { ...ANSWER.put_users, ...none },
      put_servers: { ...ANSWER.put_servers, ...none },
      put_keys: { ...ANSWER.put_keys, ...none },
    })
    const entries = await recordsOf(door.store).listAudit(10)
    assert.deepEqual(
      entries.map(({ action, address }) => `${action} ${address}`),
      ['key imported token site'],
    )
  })

  test(`on ${engine}, overlapping documents of two tokens are all done`, async (t) => {
    const door = await openDoor(t, { open })
    const second = addToken(door, 'second')
    const users = Array.from({ length: 20 }, (_, index) => ({ external_id: String(index) }))
    await perform(door, { put_users: users })
    const documents = Array.from({ length: 20 }, (_, round) => {
      const put_users = users.map((user, index) => ({
        ...user,
        email: `${(index + round) % 20}@example.com`,
      }))
      const put_servers = users.map(({ external_id }, index) => ({
        id: uuidOf(index),
        external_id,
        name: `${round}`,
        address: 'play.example.com',
      }))
      return round % 2 === 0
        ? { put_users, put_servers }
        : { put_users: put_users.toReversed(), put_servers: put_servers.toReversed() }
    })
    const answers = await Promise.all(
      documents.map((body, round) => perform(door, body, round % 2 === 0 ? door.token : second)),
    )
    for (const { put_users } of answers)
      assert.deepEqual((put_users as typeof ANSWER.put_users).refused, [])
    const read = await Promise.all(
      users.map(({ external_id }) => door.read(200, `GET /v1/users/${external_id}`)),
    )
    assert.equal(new Set(read.map(({ email }) => email)).size, 20)
    assert.deepEqual(door.faults, [])
  })
}

test('a mistake of the program names its place and changes nothing', async (t) => {
  const door = await openDoor(t)
  const user = { external_id: '1' }
  const wrong: [unknown, RegExp][] = [
    [[], /^the document: must be an object$/],
    ['null', /^the document: must be an object$/],
    [undefined, /^the document: must be an object$/],
    [{ put_user: [user] }, /^put_user: is not an act$/],
    [{ put_users: user }, /^put_users: must be an array$/],
    [{ put_users: [user, 7] }, /^put_users\[1\]: must be an object$/],
    [{ put_users: [user, { external_id: 7 }] }, /^put_users\[1\]\.external_id: must be a string/],
    [{ put_users: [user, {}] }, /^put_users\[1\]\.external_id: is missing$/],
    [{ put_users: [user, user] }, /^put_users\[1\]\.external_id: is "1", as of put_users\[0\]$/],
    [
      { put_users: [{ ...user, name: 'x' }], remove_users: [{ external_id: null }, 3] },
      /^put_users\[0\]\.name: is not a field of put_users, and 2 other mistakes$/,
    ],
    [{ put_users: [user], all_users: true }, /^all_users: works in a file and in a function/],
    [{ all_servers: true }, /^all_servers: works in a file/],
    [{ format_version: 2 }, /^format_version: is not an act$/],
    ['{"__proto__": [], "put_users": [{"external_id": "1"}]}', /^__proto__: is not an act$/],
  ]
  for (const [body, message] of wrong) {
    const { error } = await door.read(400, 'POST /v1/acts', { body })
    assert.match(String(error), message)
  }
  for (const query of ['dry-run=1', 'dry-run=true', 'dryrun', 'dry-run&dry-run'])
    assert.equal(
      (await door.send(`POST /v1/acts?${query}`, { body: { put_users: [user] } })).status,
      400,
    )
  assert.equal((await door.send('GET /v1/users/1')).status, 404)
})

test('a document has at most 2,000 rows', async (t) => {
  const door = await openDoor(t)
  const body = { put_users: users(1_000), remove_users: users(1_001) }
  assert.deepEqual(await door.read(413, 'POST /v1/acts', { body }), {
    error: 'A document can have up to 2,000 rows, and this one has 2,001. Send several documents.',
  })
  const answer = await perform(door, { ...body, remove_users: users(1_000) })
  assert.deepEqual(answer.remove_users, { removed: 1_000, refused: [] })
})

test('an empty list of servers takes those of the named owners alone', async (t) => {
  const door = await openDoor(t)
  await perform(door, {
    put_users: [{ external_id: '1' }, { external_id: '2' }],
    put_servers: [serverOf(1, '1'), serverOf(2, '1'), serverOf(3, '2')],
  })
  assert.deepEqual(
    await perform(door, { put_servers: [], all_servers_of: [{ external_id: '1' }] }),
    {
      put_servers: { added: 0, changed: 0, removed: 2, refused: [] },
    },
  )
  assert.equal((await recordsOf(door.store).countRecords()).servers, 1)
})

test('a user of the site gets no address of an operator', async (t) => {
  const door = await openDoor(t, { operators: ['eve@example.com'] })
  const put_users = [{ external_id: '1', email: 'EVE@example.com' }]
  assert.deepEqual(await perform(door, { put_users }), {
    put_users: {
      added: 1,
      changed: 0,
      refused: [{ row: 0, external_id: '1', reason: 'address of an operator' }],
    },
  })
  assert.equal((await door.read(200, 'GET /v1/users/1')).email, null)
})
