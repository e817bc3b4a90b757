import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { postgresDatabase } from '../../fixtures/postgres/config.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addUser, listUsers } from '../../fixtures/service.ts'
import { openStore } from '../claims/outcomes.ts'
import { untilWaiting } from '../other-session.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('exactly one of two browsers that change one password at once succeeds', async (t) => {
  const database = await postgresDatabase(server)
  // Cheap passwords would leave no time between the check and the change.
  const settings = { database, passwords: 'real' } as const
  const first = await startDashboard(t, settings)
  const second = await startDashboard(t, settings)
  const { person } = await first.signedIn('ada@example.com')
  const other = second.visitor()
  let password = PASSWORD
  for (let round = 0; round < 3; round += 1) {
    for (const browser of [other, person])
      assert.equal((await browser.signIn('ada@example.com', password)).status, 303)
    const wanted = [`the first new password ${round}`, `the second new password ${round}`]
    const answers = await Promise.all(
      [person, other].map((browser, index) =>
        browser.post('/dashboard/account/password', { password, 'new-password': wanted[index]! }),
      ),
    )
    const isDone = answers.map(({ headers }) => headers.location === '/dashboard/account')
    assert.equal(
      isDone.filter(Boolean).length,
      1,
      JSON.stringify(
        answers.map(({ status, headers, body }) => [
          status,
          headers.location,
          /notice bad[^>]*>.{0,600}/s.exec(body)?.[0],
        ]),
      ),
    )
    const [kept, refused] = isDone[0] ? wanted : wanted.toReversed()
    assert.equal((await first.visitor().signIn('ada@example.com', refused!)).status, 401)
    assert.equal((await second.visitor().signIn('ada@example.com', kept!)).status, 303)
    password = kept!
  }
})

test('an email change waits for a password change that has begun, and is then refused', async (t) => {
  const url = await createDatabase(server)
  const store = await openStore(t, url)
  const user = await addUser(store)
  await recordsOf(store).setPassword(user.id, 'checked', operatorAt(presentInstant()))
  await asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await admin.query('SELECT FROM users FOR NO KEY UPDATE')
    await admin.query(`UPDATE passwords SET hash = 'replaced'`)
    const changing = recordsOf(store).changeEmail(
      user.id,
      'checked',
      'eve@example.com',
      operatorAt(presentInstant()),
    )
    await untilWaiting(url, 1)
    await admin.query('COMMIT')
    assert.equal(await changing, 'outdated')
  })
  assert.deepEqual(await listUsers(store), [user])
})

test('users who swap their email addresses do not deadlock', async (t) => {
  const url = await createDatabase(server)
  const [first, second] = [await openStore(t, url), await openStore(t, url)]
  const [ada, bob] = [await addUser(first), await addUser(first, 'bob@example.com')]
  for (const { id } of [ada, bob])
    await recordsOf(first).setPassword(id, 'checked', operatorAt(presentInstant()))
  const adaToBob = () =>
    recordsOf(first).changeEmail(ada.id, 'checked', bob.email, operatorAt(presentInstant()))
  const bobToAda = () =>
    recordsOf(second).changeEmail(bob.id, 'checked', ada.email, operatorAt(presentInstant()))
  // Bob's change has begun. Ada's must not wait for it while she holds her own row.
  await asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await admin.query(`UPDATE users SET email = 'free@example.com' WHERE id = $1`, [bob.id])
    assert.equal(await adaToBob(), 'taken')
    await admin.query('ROLLBACK')
  })
  assert.deepEqual(await Promise.all([adaToBob(), bobToAda()]), ['taken', 'taken'])
  assert.deepEqual(await listUsers(first), [ada, bob])
})
