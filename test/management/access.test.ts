import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disabledUsers } from '../../src/accounts/records/disabled-users.ts'
import { insertSession } from '../../src/accounts/records/sessions.ts'
import { HOUR_US, presentInstant } from '../../src/model/instant.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { ask } from '../fixtures/requests.ts'
import { type Door, openDoor } from './door.ts'

/* Keys and sign-in links that a site makes for its users. */

const bot = { body: { name: ' bot ' } }

async function entriesOf({ store }: Door): Promise<string[]> {
  const entries = await recordsOf(store).listAudit(100)
  return entries
    .filter(({ address }) => address !== 'command line')
    .map(({ action, subject, address }) => `${action} ${subject} ${address}`)
    .toReversed()
}

test('a site issues a key, which works, and revokes it', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('a/b')
  const { id, key, ...made } = await door.read(201, 'POST /v1/users/a%2Fb/keys', bot)
  assert.match(String(key), /^svc_live_[0-9a-f]{64}$/)
  assert.deepEqual(
    { ...made, created_at: null },
    {
      name: 'bot',
      prefix: String(key).slice(0, 16),
      created_at: null,
      revoked_at: null,
      last_used_at: null,
    },
  )
  const apiPort = door.service.port
  assert.equal((await ask(apiPort, { key: String(key) })).status, 200)

  const path = `DELETE /v1/users/a%2Fb/keys/${String(id)}`
  const revoked = await door.read(200, path)
  assert.equal(typeof revoked.revoked_at, 'string')
  assert.equal((await ask(apiPort, { key: String(key) })).status, 401)
  assert.deepEqual(await door.read(200, path), revoked)
  assert.deepEqual(await entriesOf(door), [
    `key issued ${String(id)} token site`,
    `key revoked ${String(id)} token site`,
  ])
  const { keys } = await door.read(200, 'GET /v1/users/a%2Fb')
  assert.deepEqual(keys, [revoked])
  assert.equal((await recordsOf(door.store).listApiKeys(user.id)).length, 1)
})

test('a key needs a name, a free place and a user of the site', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  const wrong: [unknown, RegExp][] = [
    [undefined, /must be \{"name": "…"\}/],
    [{}, /must be/],
    [[], /must be/],
    ['null', /must be/],
    [{ name: 7 }, /must be/],
    [{ name: 'bot', prefix: 'x' }, /must be/],
    [{ name: ' ' }, /^A key's name must have 1 to 64 characters, not 0/],
    [{ name: 'x'.repeat(65) }, /not 65/],
    [{ name: 'a\u0007' }, /no control characters/],
  ]
  for (const [body, message] of wrong) {
    const { error } = await door.read(400, 'POST /v1/users/7/keys', { body })
    assert.match(String(error), message)
  }
  for (let count = 0; count < 5; count += 1) await door.read(201, 'POST /v1/users/7/keys', bot)
  assert.deepEqual(await door.read(409, 'POST /v1/users/7/keys', bot), {
    error: 'The user has 5 active keys, the maximum; revoke one first.',
  })
  assert.equal((await door.send('POST /v1/users/8/keys', bot)).status, 404)
  for (const id of ['x', '3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10'])
    assert.deepEqual(await door.read(404, `DELETE /v1/users/7/keys/${id}`), {
      error: 'The user has no key with this id.',
    })
})

test("a site can't revoke another user's key", async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  await door.addUser('8')
  const { id } = await door.read(201, 'POST /v1/users/7/keys', bot)
  assert.equal((await door.send(`DELETE /v1/users/8/keys/${String(id)}`)).status, 404)
})

test('a site makes a link that signs its user in, once', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7', 'ada@example.com')
  const before = presentInstant()
  const { url, expires_at } = await door.read(201, 'POST /v1/users/7/sign-in-link')
  assert.match(String(url), /^https:\/\/listing\.example\.com\/link\/[\w-]{43}$/)
  const hours = (Date.parse(String(expires_at)) * 1000 - before) / HOUR_US
  assert.ok(hours > 0.99 && hours < 1.01, String(expires_at))
  const { pathname } = new URL(String(url))
  const page = await ask(door.service.dashboardPort, { path: pathname })
  assert.match(page.body, /ada@example\.com/)
  await door.read(201, 'POST /v1/users/7/sign-in-link', { body: {} })
  assert.deepEqual(await entriesOf(door), [
    'sign-in link issued ada@example.com token site',
    'sign-in link issued ada@example.com token site',
  ])
  for (const body of [{ hours: 24 }, [], 'null'])
    assert.deepEqual(await door.read(400, 'POST /v1/users/7/sign-in-link', { body }), {
      error: 'A sign-in link needs no body, or {}.',
    })
})

test('a link that sets a password needs a user with an email address', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  assert.deepEqual(await door.read(409, 'POST /v1/users/7/sign-in-link'), {
    error: 'The user has no email address, which a sign-in link needs.',
  })
  assert.equal((await door.send('POST /v1/users/8/sign-in-link')).status, 404)
})

test('without passwords a link needs no email address', async (t) => {
  const door = await openDoor(t, { passwords: false })
  await door.addUser('7')
  await door.read(201, 'POST /v1/users/7/sign-in-link')
})

test('a user without access gets no key and no link, and the answer says who ended it', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('7', 'ada@example.com')
  const { id } = await door.read(201, 'POST /v1/users/7/keys', bot)
  const ban = (banned_at: string | null) =>
    door.read(200, 'POST /v1/acts', { body: { put_users: [{ external_id: '7', banned_at }] } })
  const disable = (is: boolean) =>
    disabledUsers(door.store.database).setDisabled(user.id, is, operatorAt(1))
  const assertRefused = async (words: string) => {
    for (const path of ['keys', 'sign-in-link']) {
      const sent = path === 'keys' ? bot : {}
      assert.deepEqual(await door.read(409, `POST /v1/users/7/${path}`, sent), {
        error: `The user is ${words}.`,
      })
    }
  }
  await disable(true)
  await assertRefused('disabled by an operator')
  await ban('2026-01-31T12:00:00Z')
  await assertRefused('disabled by an operator and banned by the site')
  await disable(false)
  await assertRefused('banned by the site')
  await ban(null)
  await door.read(201, 'POST /v1/users/7/sign-in-link')
  await disable(true)
  await door.read(200, `DELETE /v1/users/7/keys/${String(id)}`)
})

test("an operator's account gets no key and no link, and the log says that it was asked", async (t) => {
  const door = await openDoor(t, { operators: ['eve@example.com', 'zoe@example.com'] })
  await door.addUser('listed', 'eve@example.com')
  const { id } = await door.addUser('by-group', 'bob@example.com')
  const startedAt = presentInstant()
  const { database } = door.store
  const signIn = (userId: string, operatorUntil: number) =>
    database.transact((transaction) =>
      insertSession(transaction, database.dialect, {
        userId,
        tokenHash: userId,
        userAgent: '',
        address: '',
        startedAt,
        expiresAt: startedAt + HOUR_US,
        operatorUntil,
      }),
    )
  await signIn(id, startedAt + HOUR_US)
  for (const externalId of ['listed', 'by-group']) {
    assert.deepEqual(await door.read(403, `POST /v1/users/${externalId}/keys`, bot), {
      error: 'This is the account of an operator, for which a site makes no key.',
    })
    assert.deepEqual(await door.read(403, `POST /v1/users/${externalId}/sign-in-link`), {
      error: 'This is the account of an operator, for which a site makes no sign-in link.',
    })
  }
  const refused = ['site refused key token site', 'site refused sign-in link token site']
  assert.deepEqual(await entriesOf(door), [...refused, ...refused])
  assert.deepEqual(await recordsOf(door.store).listApiKeys(id), [])

  // The log has it of a disabled operator, too.
  const disabled = await door.addUser('disabled', 'zoe@example.com')
  await disabledUsers(database).setDisabled(disabled.id, true, operatorAt(1))
  await door.read(403, 'POST /v1/users/disabled/keys', bot)
  // A right that has ended is none.
  const former = await door.addUser('former', 'kim@example.com')
  await signIn(former.id, startedAt)
  await door.read(201, 'POST /v1/users/former/keys', bot)
})
