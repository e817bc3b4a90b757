import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addUser, listUsers } from '../../fixtures/service.ts'
import { openStore } from '../claims/outcomes.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

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
