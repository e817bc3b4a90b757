import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { issueSignInLink } from '../../../src/accounts/records/issued-links.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { PASSWORD } from '../../fixtures/dashboard.ts'
import { startSite, titleOf } from '../../fixtures/oidc/site.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { openSite } from './site.ts'

/*
 * What the acts of a site do to the ways in of its users.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const IDENTITIES =
  'SELECT external_id, subject FROM identities JOIN users ON users.id = user_id ORDER BY subject'

test('a user whom put_users adds is found by the address at the provider, once', async (t) => {
  const site = await openSite(t, server)
  const { visitor, come, arrived } = await startSite(t, async () => ({
    engine: 'postgres',
    url: site.url,
  }))
  assert.equal(titleOf(await come(visitor(), 'ada')), 'No account')
  await site.call('put_users', [{ external_id: '4711', email: 'Ada@example.com' }])
  const ada = await arrived('ada')
  const linked = [{ external_id: '4711', subject: 'ada' }]
  assert.deepEqual(await site.own(IDENTITIES), linked)

  // The address moves on to another user. The identity stays, and the provider's user with it.
  await site.call('put_users', [
    { external_id: '4711', email: 'countess@example.com' },
    { external_id: '4712', email: 'ada@example.com' },
  ])
  assert.match((await ada.get('/dashboard/account')).body, /countess@example\.com/)
  const again = await arrived('ada')
  assert.match((await again.get('/dashboard/account')).body, /countess@example\.com/)
  assert.deepEqual(await site.own(IDENTITIES), linked)
})

test('an address that put_users changes leaves session, password and link as they are', async (t) => {
  const site = await openSite(t, server)
  const { store, visitor, signedIn } = await startSite(t, async () => ({
    engine: 'postgres',
    url: site.url,
  }))
  const { person, user } = await signedIn('ada@example.com')
  await site.own(`UPDATE users SET external_id = '4711'`)
  const actor = operatorAt(presentInstant())
  const { path } = (await issueSignInLink(store.database, user.id, 1, actor))!
  await site.call('put_users', [{ external_id: '4711', email: 'new@example.com' }])
  assert.match((await person.get('/dashboard/account')).body, /new@example\.com/)
  assert.equal((await visitor().signIn('new@example.com', PASSWORD)).status, 303)
  assert.equal((await visitor().signIn('ada@example.com', PASSWORD)).status, 401)
  assert.match((await visitor().get(path)).body, /It signs in <bdi>new@example\.com<\/bdi>/)
})
