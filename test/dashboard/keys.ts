import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../src/listing/api-key.ts'
import { type OpenDatabase, PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'

/** Keys on the dashboard (spec 5.3). */
export function keyPages(open: OpenDatabase): void {
  test('a key is issued, works, is seen used, is deleted, and gets a 401 before the page answers', async (t) => {
    const { signedIn, apiPort, faults } = await startDashboard(t, open)
    const { person } = await signedIn()
    assert.match((await person.get('/dashboard/api')).body, /No keys yet/)
    const key = await person.issue('Discord bot')
    assert.equal((await ask(apiPort, { key })).status, 200)

    const { body } = await person.get('/dashboard/api')
    assert.ok(
      body.includes(`<code>${key.slice(0, 16)}…</code>`) && !body.includes(key.slice(0, 17)),
    )
    assert.match(body, /<dt>Last used<\/dt><dd><time/)
    assert.match(body, />1 answered</)
    const path = /\/dashboard\/api\/[0-9a-f-]+\/delete/.exec(body)?.[0] ?? ''
    assert.match((await person.get(path)).body, /Delete the key <bdi>Discord bot<\/bdi>/)

    const deleted = await person.post(path)
    assert.equal((await ask(apiPort, { key })).status, 401)
    assert.equal(deleted.headers.location, '/dashboard/api?done=deleted')
    const after = (await person.get('/dashboard/api?done=deleted')).body
    assert.match(after, /The key is deleted/)
    assert.match(after, /Deleted keys/)
    assert.equal((await person.get(path)).status, 404)
    assert.deepEqual(faults, [])
  })

  test('the key is on one page only: none of the others, no header, no address has it', async (t) => {
    const { signedIn } = await startDashboard(t, open)
    const { person } = await signedIn()
    const answer = await person.post('/dashboard/api', { form: 'one', name: 'bot' })
    const key = /svc_live_[0-9a-f]{64}/.exec(answer.body)?.[0] ?? 'none'
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.ok(!JSON.stringify(answer.headers).includes(key.slice(16)))
    assert.ok(answer.body.includes(`curl -H &#39;Authorization: Bearer ${key}&#39;`))
    for (const path of ['/dashboard/api', '/dashboard/account', '/dashboard/servers'])
      assert.ok(!(await person.get(path)).body.includes(key.slice(16)))

    const again = await person.post('/dashboard/api', { form: 'one', name: 'bot' })
    assert.equal(again.status, 409)
    assert.match(again.body, /This form has issued its key already/)
    assert.ok(!again.body.includes(key.slice(16)))
    assert.match(again.body, /1 of 5 active/)
  })

  test('a form sent twenty times at once issues one key', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => person.post('/dashboard/api', { form: 'f', name: 'bot' })),
    )
    assert.equal(answers.filter(({ body }) => /svc_live_[0-9a-f]{64}/.test(body)).length, 1)
    assert.equal((await store.listApiKeys(user.id)).length, 1)
  })

  test('twenty posts at once leave five keys, and the page says what to do', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        person.post('/dashboard/api', { form: `form ${index}`, name: `bot ${index}` }),
      ),
    )
    assert.equal(answers.filter(({ body }) => /svc_live_[0-9a-f]{64}/.test(body)).length, 5)
    assert.equal((await store.listApiKeys(user.id)).length, 5)
    assert.ok(answers.some(({ status, body }) => status === 409 && /No key was issued/.test(body)))
    const { body } = await person.get('/dashboard/api')
    assert.match(body, /You have 5 active keys, which is the most\. Delete one/)
    assert.doesNotMatch(body, /name="name"/)
  })

  test('a name has 1 to 64 code points, of whatever script; what was typed stays', async (t) => {
    const { signedIn } = await startDashboard(t, open)
    const { person } = await signedIn()
    for (const letter of ['a', '한', '🐈']) {
      const long = await person.post('/dashboard/api', { form: 'x', name: letter.repeat(65) })
      assert.equal(long.status, 422)
      assert.ok(long.body.includes(`value="${letter.repeat(65)}"`))
      assert.match(long.body, /id="name-error">A name has 1 to 64 characters/)
    }
    for (const name of ['', '  ', 'a\u0000b', 'a\nb'])
      assert.equal((await person.post('/dashboard/api', { form: 'x', name })).status, 422)
    for (const name of ['a', '한'.repeat(64), '🐈'.repeat(64), 'b'.repeat(64)]) {
      await person.issue(name)
      assert.ok((await person.get('/dashboard/api')).body.includes(`<bdi>${name}</bdi>`))
    }
  })

  test('a session older than ten minutes asks for the password', async (t) => {
    const { signedIn, elapse, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    elapse(9 * 60_000)
    await person.issue('within')
    elapse(2 * 60_000)
    assert.match((await person.get('/dashboard/api')).body, /Your password/)
    const without = await person.post('/dashboard/api', { form: 'x', name: 'late' })
    assert.equal(without.status, 403)
    assert.match(without.body, /id="password-error">You signed in more than ten minutes ago/)
    const fields = { form: 'x', name: 'late', password: 'not this one' }
    const wrong = await person.post('/dashboard/api', fields)
    assert.match(wrong.body, /id="password-error">The password is wrong/)
    assert.match(wrong.body, /value="late"/)
    assert.equal((await store.listApiKeys(user.id)).length, 1)
    await person.issue('late', { password: PASSWORD })
    for (let index = 0; index < 5; index += 1) await person.post('/dashboard/api', fields)
    assert.equal((await person.post('/dashboard/api', fields)).status, 429)
  })

  test('a leaked text revokes the keys of the owner in it, and nobody else’s', async (t) => {
    const { signedIn, apiPort } = await startDashboard(t, open)
    const { person: ada } = await signedIn('ada@example.com')
    const { person: bob } = await signedIn('bob@example.com')
    const mine = await ada.issue('leaked one')
    const theirs = await bob.issue('not hers')
    const leak = (leaked: string) => ada.post('/dashboard/api/leaked', { leaked })

    for (const text of [theirs, generateKey(), mine.slice(0, -1), `${mine}0`, '', 'nothing']) {
      const { status, body } = await leak(text)
      assert.equal(status, 422)
      assert.match(body, /None of your keys is in this text/)
      assert.ok(text === '' || text === 'nothing' || !body.includes(text.slice(16)))
    }
    const found = await leak(`see line 3: token="${mine}", and "${theirs}"`)
    assert.equal(found.status, 200)
    assert.match(found.body, /refused from now on: <bdi>leaked one<\/bdi>/)
    assert.ok(!found.body.includes(mine.slice(16)))
    assert.equal((await ask(apiPort, { key: mine })).status, 401)
    assert.equal((await ask(apiPort, { key: theirs })).status, 200)
  })
}
