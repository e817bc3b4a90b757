import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { addOwner } from '../../fixtures/service.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import { serverExports } from '../../../src/servers/records/server-exports.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'

test("a deleted user's keys are revoked before a server is deleted", async (t) => {
  const server = await openServer()
  t.after(() => server.remove())
  const url = await createDatabase(server)
  const store = await openServingPostgresStore(url)
  t.after(() => store.close())
  await store.prepare()
  const { user, key } = await addOwner(store, 'ada@example.com', [
    { name: 'Survival', address: 'play.example.com' },
  ])
  const removed = await asAdmin(url, async (admin) => {
    // Another session keeps the server from being deleted.
    await admin.query('BEGIN')
    await admin.query('SELECT FROM servers FOR UPDATE')
    const removing = removeUser(store.database, user.id, operatorAt(presentInstant()))
    await eventually(
      async () => (await apiKeys(store.database).listApiKeys(user.id))[0]?.revoked_at !== null,
    )
    assert.equal((await claim(store, key)).outcome, 'revoked')
    assert.equal((await serverExports(store.database).listServers(user.id)).length, 1)
    await admin.query('COMMIT')
    return removing
  })
  assert.equal(removed, true)
})
