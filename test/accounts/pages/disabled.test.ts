import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { ENTRY, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { workOf } from '../../fixtures/passwords/password-work.ts'
import { ask } from '../../fixtures/requests.ts'
import { issueKey } from '../../fixtures/service.ts'
import { register } from '../../servers/pages/public/publish.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf, setBanned } from '../../fixtures/records.ts'

const EMAIL = 'ada@example.com'
const OPERATOR = 'ops@example.com'

for (const side of ['operator', 'site'])
  test(`access that the ${side} ends: session, forms, keys and public pages, until it takes that back`, async (t) => {
    const dashboard = await startDashboard(t, { siteUrl: 'https://example.com' })
    const { apiPort, store, visitor } = dashboard
    const { person, user } = await dashboard.signedIn(EMAIL)
    const key = await person.issue('bot')
    const setEnded = (isEnded: boolean): Promise<unknown> =>
      side === 'site'
        ? setBanned(store, user.id, isEnded ? presentInstant() : null)
        : recordsOf(store).setDisabled(user.id, isEnded, operatorAt(presentInstant()))
    const page = `/servers/${await register(dashboard, user.id)}`
    const [published, missing] = [await visitor().get(page), await visitor().get('/servers/x')]
    assert.deepEqual([published.status, missing.status], [200, 404])

    await setEnded(true)
    const [refused, unknown] = await Promise.all([
      ask(apiPort, { key }),
      ask(apiPort, { key: `svc_live_${'0'.repeat(64)}` }),
    ])
    assert.deepEqual([refused.status, refused.body], [401, unknown.body])
    const hidden = await visitor().get(page)
    assert.deepEqual([hidden.status, hidden.body], [404, missing.body])
    const form = await person.post('/dashboard/servers/new', ENTRY)
    assert.equal(form.status, 401)
    assert.match(form.body, /Your session has ended, and nothing was changed\./)
    assert.equal((await person.get('/dashboard/account')).status, 303)

    await setEnded(false)
    assert.equal((await person.get('/dashboard/account')).status, 303)
    assert.equal((await ask(apiPort, { key })).status, 200)
    assert.equal((await visitor().get(page)).body, published.body)
    assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 303)
  })

test('a disabled user signs in with the same answer as an unknown one, after the same work', async (t) => {
  const { signedIn, store, visitor } = await startDashboard(t)
  const { user } = await signedIn(EMAIL)
  await recordsOf(store).setDisabled(user.id, true, operatorAt(presentInstant()))
  const signIn = async (email: string) => {
    const { status, body } = await visitor().signIn(email, PASSWORD)
    return { status, body: body.replaceAll(email, '') }
  }
  const work = (email: string) => workOf(() => signIn(email))
  const unknown = await signIn('eve@example.com')
  assert.equal(unknown.status, 401)
  assert.deepEqual(await signIn(EMAIL), unknown)
  const works = await work('eve@example.com')
  assert.equal(works.length, 1)
  assert.deepEqual(await work(EMAIL), works)
})

test("the operator's pages say who has ended a user's access, and what enabling gives back", async (t) => {
  const { signedIn, store } = await startDashboard(t, { operators: [OPERATOR] })
  const { person } = await signedIn(OPERATOR)
  const user = createUser(null, 'Player <1>')
  assert.ok(await recordsOf(store).insertUser(user, operatorAt(presentInstant())))
  await issueKey(store, user)
  const own = `/dashboard/operator/users/${user.id}`
  const pills = async (path: string) =>
    Array.from(
      (await person.get(path)).body.matchAll(/<span class="?pill"?>([^<]*)</g),
      ([, text]) => text,
    )
  const acts = async () =>
    Array.from(
      (await person.get(own)).body.matchAll(/href="[^"]*\/(link|sign-out|disable|enable)"/g),
      ([, act]) => act,
    )
  const expectMarks = async (...expected: string[]) => {
    assert.deepEqual(await pills('/dashboard/operator/users'), expected)
    assert.deepEqual(await pills(own), expected.length === 0 ? [] : ['no access'])
    const { body } = await person.get(own)
    const found = body.match(/(?:disabled by an operator|banned by the site)(?= <)/g)
    assert.deepEqual(found ?? [], expected)
  }
  const { body } = await person.get('/dashboard/operator/users')
  assert.match(body, /<bdi>Player &lt;1&gt;<\/bdi>/)
  await expectMarks()
  assert.deepEqual(await acts(), ['link', 'sign-out', 'disable'])

  await setBanned(store, user.id, presentInstant())
  await expectMarks('banned by the site')
  assert.deepEqual(await acts(), ['disable'])
  const refused = await person.post(`${own}/link`, { password: PASSWORD })
  assert.equal(refused.status, 409)
  assert.match(refused.body, /The site’s ban stands/)
  await person.post(`${own}/disable`)
  await expectMarks('disabled by an operator', 'banned by the site')
  assert.deepEqual(await acts(), ['enable'])
  assert.match((await person.get(`${own}/enable`)).body, /The site’s ban stands/)
  await person.post(`${own}/enable`)
  assert.match((await person.get(own)).body, /The account is enabled\. The site’s ban stands/)
  await expectMarks('banned by the site')
  await setBanned(store, user.id, null)
  await expectMarks()
})

test('members of an organization see the external id of a member without an address', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn(EMAIL)
  const player = createUser(null, 'Player 1')
  assert.ok(await recordsOf(store).insertUser(player, operatorAt(presentInstant())))
  const id = crypto.randomUUID()
  const organization = { id, slug: 'red', name: 'Red' }
  assert.equal(
    await recordsOf(store).insertOrganization(
      player.id,
      organization,
      operatorAt(presentInstant()),
    ),
    'made',
  )
  assert.equal(
    await recordsOf(store).addMember(player.id, id, user.email, operatorAt(presentInstant())),
    'added',
  )
  const { body } = await person.get(`/dashboard/organizations/${id}/members`)
  assert.match(body, /<bdi>Player 1<\/bdi>/)
})
