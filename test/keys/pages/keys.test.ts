import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { test } from 'node:test'
import { REVOKED_SHOWN } from '../../../src/keys/pages/page.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { issueKey } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Keys on the dashboard (spec 5.3).
 */

test('a user issues a key, sees its use and deletes it; it gets a 401 before the page answers', async (t) => {
  const { signedIn, apiPort, faults } = await startDashboard(t)
  const { person } = await signedIn()
  assert.match((await person.get('/dashboard/api')).body, /No API keys yet/)
  const key = await person.issue('Discord bot')
  assert.equal((await ask(apiPort, { key })).status, 200)

  const { body } = await person.get('/dashboard/api')
  assert.ok(body.includes(`>${key.slice(0, 16)}…</code>`) && !body.includes(key.slice(0, 17)))
  assert.match(body, /Last used <time datetime="[^"]+Z" title="[^"]+ UTC">just now<\/time>/)
  assert.match(body, /<b>1<\/b> answered</)
  const path = /\/dashboard\/api\/[0-9a-f-]+\/delete/.exec(body)?.[0] ?? ''
  assert.match((await person.get(path)).body, /Delete the key <bdi>Discord bot<\/bdi>/)

  const deleted = await person.post(path)
  assert.equal((await ask(apiPort, { key })).status, 401)
  assert.equal(deleted.headers.location, '/dashboard/api')
  const after = (await person.get('/dashboard/api')).body
  assert.match(after, /<bdi>Discord bot<\/bdi><\/b> was deleted\. Requests with it now get a 401/)
  assert.match(after, /<title>\u2068Discord bot\u2069 was deleted\. .* · API keys · /)
  assert.match(after, /Deleted, but still in use/)
  assert.doesNotMatch((await person.get('/dashboard/api')).body, /was deleted/)
  assert.deepEqual(faults, [])
})

test('the page says so if a deleted key is not in the journal of revocations', async (t) => {
  const database = await sqliteDatabase(t)
  const journal = `${database.path}-revoked`
  const { signedIn, apiPort, faults } = await startDashboard(t, { database })
  const { person } = await signedIn()
  const key = await person.issue('Discord bot')
  const { body } = await person.get('/dashboard/api')
  const path = /\/dashboard\/api\/[0-9a-f-]+\/delete/.exec(body)?.[0] ?? ''
  mkdirSync(journal)
  const refused = await person.post(path)
  assert.equal(refused.status, 503)
  assert.match(refused.body, /no longer works, but an older copy .* could bring it back/)
  assert.equal((await ask(apiPort, { key })).status, 401)
  assert.match(String(faults), /NotJournaled: cannot write the journal of revocations/)
  rmdirSync(journal)
  assert.equal((await person.post(path)).headers.location, '/dashboard/api')
  assert.match(readFileSync(journal, 'utf8'), / key [0-9a-f]{64}\n$/)
})

test('only one page shows the key, and no header or address contains it', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const answer = await person.post('/dashboard/api', { form: 'one', name: 'bot' })
  const key = /svc_live_[0-9a-f]{64}/.exec(answer.body)?.[0] ?? 'none'
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.ok(!JSON.stringify(answer.headers).includes(key.slice(16)))
  // The script removes this section when the user leaves.
  const outside = answer.body.replace(/<section class="card" data-secret>.*?<\/section>/s, '')
  assert.ok(!outside.includes(key.slice(16)))
  assert.match(answer.body, new RegExp(`<pre id="key"[^>]*>${key}</pre>`))
  for (const path of ['/dashboard/api', '/dashboard/account', '/dashboard/servers'])
    assert.ok(!(await person.get(path)).body.includes(key.slice(16)))

  const again = await person.post('/dashboard/api', { form: 'one', name: 'bot' })
  assert.equal(again.status, 409)
  assert.match(again.body, /This form already issued its key, which can’t be shown again/)
  assert.ok(!again.body.includes(key.slice(16)))
  assert.match(again.body, /Active <span class="hint">1 of 5</)
})

test('twenty concurrent submissions of one form issue one key', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => person.post('/dashboard/api', { form: 'f', name: 'bot' })),
  )
  assert.equal(answers.filter(({ body }) => /svc_live_[0-9a-f]{64}/.test(body)).length, 1)
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 1)
})

test('twenty concurrent forms leave five keys, and the page says what to do', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      person.post('/dashboard/api', { form: `form ${index}`, name: `bot ${index}` }),
    ),
  )
  assert.equal(answers.filter(({ body }) => /svc_live_[0-9a-f]{64}/.test(body)).length, 5)
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 5)
  assert.ok(answers.some(({ status, body }) => status === 409 && /No key was issued/.test(body)))
  const { body } = await person.get('/dashboard/api')
  assert.match(
    body,
    /You have 5 active keys, the maximum\. Delete one [^<]*\. Keep one free to be able to replace a key: /,
  )
  assert.doesNotMatch(body, /name="name"/)
})

test('before the last free key is issued, the page says what it is good for', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  for (const name of ['1', '2', '3']) await person.issue(name)
  const warning = /This is your last free key\. Keep one free to be able to replace a key/
  const form = async () => (await person.get('/dashboard/api?name=')).body
  assert.doesNotMatch(await form(), warning)
  await person.issue('4')
  assert.match(await form(), warning)
})

test('a user who has deleted every key is not told that there have been none', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('bot')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  await person.submit(`/dashboard/api/${apiKey!.id}/delete`)
  const { body } = await person.get('/dashboard/api')
  assert.match(body, /<h2>No active API keys<\/h2>/)
  assert.doesNotMatch(body, /No API keys yet/)
})

test('a key’s name has 1 to 64 code points in any script, and the form keeps a refused one', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  for (const letter of ['a', '한', '🐈']) {
    const long = await person.post('/dashboard/api', { form: 'x', name: letter.repeat(65) })
    assert.equal(long.status, 422)
    assert.ok(long.body.includes(`value="${letter.repeat(65)}"`))
    assert.match(
      long.body,
      /id="name-error">A key&#39;s name must have 1 to 64 characters, not 65: /,
    )
  }
  for (const name of ['', '  ', 'a\u0000b', 'a\nb'])
    assert.equal((await person.post('/dashboard/api', { form: 'x', name })).status, 422)
  for (const name of ['a', '한'.repeat(64), '🐈'.repeat(64), 'b'.repeat(64)]) {
    await person.issue(name)
    assert.ok((await person.get('/dashboard/api')).body.includes(`<bdi>${name}</bdi>`))
  }
})

test('a session older than 10 minutes asks for the password', async (t) => {
  const { signedIn, elapse, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  elapse(9 * 60_000)
  await person.issue('within')
  elapse(2 * 60_000)
  const without = await person.post('/dashboard/api', { form: 'x', name: 'late' })
  assert.equal(without.status, 403)
  assert.match(
    without.body,
    /You signed in more than 10 minutes ago\. Enter your password to issue/,
  )
  const fields = { form: 'x', name: 'late', password: 'not this one' }
  const wrong = await person.post('/dashboard/api', fields)
  assert.match(wrong.body, /id="password-error">The password is wrong/)
  assert.match(wrong.body, /<input type="hidden" name="name" value="late">/)
  assert.doesNotMatch(wrong.body, /not this one/)
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 1)
  await person.issue('late', { password: PASSWORD })
  for (let index = 0; index < 5; index += 1) await person.post('/dashboard/api', fields)
  assert.equal((await person.post('/dashboard/api', fields)).status, 429)
})

test('a leaked key is found after 200 others, and without spaces around it', async (t) => {
  const { signedIn, apiPort } = await startDashboard(t)
  const { person } = await signedIn()
  const others = Array.from({ length: 200 }, generateKey).join('\n')
  for (const [name, textWith] of Object.entries({
    'last of 201': (key: string) => `${others}\n${key}`,
    'two keys without a gap': (key: string) => `${generateKey()}${key}`,
    'followed by more hex': (key: string) => `${key}00ff`,
    'followed by a name': (key: string) => `KEY=${key}SERVER=x`,
    'in upper case': (key: string) => `KEY=${key.toUpperCase()}`,
  })) {
    const key = await person.issue(name)
    const { body } = await person.submit('/dashboard/api/leaked', { leaked: textWith(key) })
    assert.ok(body.includes(`<bdi>${name}</bdi></b> was deleted.`), name)
    assert.equal((await ask(apiPort, { key })).status, 401)
  }
})

test('the page says that it leaves out older deleted keys, also if programs still use one', async (t) => {
  const { signedIn, store, apiPort } = await startDashboard(t)
  const { person, user } = await signedIn()
  const keys = []
  for (let number = 1; number <= REVOKED_SHOWN + 1; number += 1) {
    const { key, id } = await issueKey(store, user, `key ${number}`)
    await recordsOf(store).revokeApiKey(user.id, id, operatorAt(number))
    keys.push(key)
  }
  const shown = async () => (await person.get('/dashboard/api')).body
  assert.match(await shown(), />key 2<.*Older deleted keys are not shown/s)
  await ask(apiPort, { key: keys.at(-1)! })
  const body = await shown()
  assert.match(body, /still in use.*>key 21<.*Deleted keys.*>key 2<.*Older deleted keys are not/s)
  assert.doesNotMatch(body, />key 1</)
})
