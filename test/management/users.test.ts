import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disabledUsers } from '../../src/accounts/records/disabled-users.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { formatInstant } from '../../src/model/instant.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer } from '../fixtures/postgres/server.ts'
import { issueKey } from '../fixtures/service.ts'
import { openDoor } from './door.ts'

test('a site reads its user with the keys', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('4711', 'ada@example.com')
  const { id, key } = await issueKey(door.store, user)
  await disabledUsers(door.store.database).setDisabled(user.id, true, operatorAt(7_000_000))

  const { keys, ...read } = await door.read(200, 'GET /v1/users/4711')
  assert.deepEqual(read, {
    external_id: '4711',
    id: user.id,
    email: 'ada@example.com',
    created_at: formatInstant(user.created_at),
    banned_at: null,
    disabled_at: '1970-01-01T00:00:07.000000Z',
  })
  const [one, ...others] = keys as Record<string, unknown>[]
  assert.deepEqual(others, [])
  assert.deepEqual(
    { ...one, created_at: null },
    {
      id,
      name: 'bot',
      prefix: key.slice(0, 16),
      created_at: null,
      revoked_at: null,
      last_used_at: null,
    },
  )
})

test('an external id may have any characters that the path encodes', async (t) => {
  const door = await openDoor(t)
  for (const externalId of ['a/b', '100%', '%2F', 'a b', 'a+b', '?x#y', '.', '..', 'é\u{1f642}']) {
    const { id } = await door.addUser(externalId)
    const encoded = encodeURIComponent(externalId)
    const read = await door.read(200, `GET /v1/users/${encoded}`)
    assert.deepEqual([read.external_id, read.id], [externalId, id])
  }
  assert.deepEqual(await door.read(404, 'GET /v1/users/a'), {
    error: 'No user has this external id.',
  })
  for (const wrong of ['%', '%zz', '%E0%A4', '%ff'])
    assert.deepEqual(await door.read(400, `GET /v1/users/${wrong}`), {
      error: 'The path must be percent-encoded UTF-8.',
    })
})

test('a NUL, which PostgreSQL takes in no text, is in the id of no user', async (t) => {
  const server = await openServer()
  t.after(() => server.remove())
  const url = await createMigratedDatabase(server)
  const door = await openDoor(t, { open: async () => ({ engine: 'postgres', url }) })
  for (const [line, sent] of [
    ['GET /v1/users/7%00', {}],
    ['POST /v1/users/%00/keys', { body: { name: 'bot' } }],
    ['POST /v1/users/%00/sign-in-link', {}],
    ['DELETE /v1/users/%00/keys/7', {}],
  ] as const)
    assert.deepEqual(await door.read(404, line, sent), { error: 'No user has this external id.' })
  assert.deepEqual(door.faults, [])
  await door.service.close()
})
