import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * A leaked text that has the beginning of a key only, as scanners and screenshots show it.
 */

test('the shown prefix of a key revokes it, however the rest is hidden', async (t) => {
  const { signedIn, apiPort } = await startDashboard(t)
  const { person } = await signedIn()
  for (const [name, hide] of Object.entries({
    shown: (key: string) => `${key.slice(0, 16)}…`,
    masked: (key: string) => `key: ${key.slice(0, 16)}${'*'.repeat(57)}`,
    'cut off': (key: string) => key.slice(0, -1),
    'in capitals': (key: string) => `${key.slice(0, 20).toUpperCase()}...`,
  })) {
    const key = await person.issue(name)
    const { body } = await person.submit('/dashboard/api/leaked', { leaked: hide(key) })
    assert.ok(body.includes(`<bdi>${name}</bdi></b> was deleted.`), name)
    assert.equal((await ask(apiPort, { key })).status, 401)
  }
})

test('a prefix that two keys have deletes both, and the page names them', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('other')
  const times = { revoked_at: null, last_used_at: null }
  const prefix = 'svc_live_0123456'
  for (const [created_at, name] of ['one', 'two'].entries())
    await recordsOf(store).insertApiKey(
      { id: crypto.randomUUID(), user_id: user.id, name, prefix, created_at, ...times },
      crypto.getRandomValues(new Uint8Array(32)),
      5,
      operatorAt(1),
    )
  const { body } = await person.submit('/dashboard/api/leaked', {
    leaked: `${prefix}… and svc_live_eeeeeee`,
  })
  assert.match(
    body,
    /<bdi>one<\/bdi><\/b> and <b><bdi>two<\/bdi><\/b> were deleted\.[^<]* 1 key in this text is not yours/,
  )
  const left = await recordsOf(store).listApiKeys(user.id, 0)
  assert.deepEqual(
    left.map(({ name }) => name),
    ['other'],
  )
})

test('after a leak, one click leads to the form for a key of the same name', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const key = await person.issue('Tom’s "bot" & co')
  const { body } = await person.submit('/dashboard/api/leaked', { leaked: key })
  const [, link = ''] =
    /<a class="button" href="([^"#]+)#name">Issue a new key named <bdi>Tom/.exec(body)!
  const form = (await person.get(link.replaceAll('&amp;', '&'))).body
  assert.match(form, /<input id="name" [^>]*value="Tom’s &quot;bot&quot; &amp; co"/)
})

test('no browser translates a key or its beginning', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('deleted')
  const issued = await person.post('/dashboard/api', { form: 'f', name: 'bot' })
  const [deleted, apiKey] = await recordsOf(store).listApiKeys(user.id)
  await person.post(`/dashboard/api/${deleted!.id}/delete`)
  const path = `/dashboard/api/${apiKey!.id}`
  const paths = ['/dashboard/api', path, `${path}/delete`, `${path}/replace`]
  const pages = await Promise.all(paths.map((one) => person.get(one)))
  for (const { body } of [issued, ...pages]) {
    const shown = [...body.matchAll(/<(code|pre)\b([^>]*)>[^<]*svc_live_[0-9a-f]{7}/g)]
    assert.ok(shown.length > 0)
    for (const [, , attributes = ''] of shown) assert.match(attributes, /translate="no"/)
  }
})
