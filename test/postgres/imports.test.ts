import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ServerEntry } from '../../src/servers/server-entry.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { saved } from '../contract/people.ts'
import { addUser } from '../fixtures/service.ts'
import { openStore } from './claims/outcomes.ts'
import { untilWaiting } from './other-session.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** Counts the statements on servers, as the triggers that renew listings do. */
const COUNT = `
  CREATE TABLE statements (operation text);
  CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO statements VALUES (TG_OP); RETURN NULL; END';
  CREATE TRIGGER count_statement AFTER INSERT OR UPDATE OR DELETE ON servers
    FOR EACH STATEMENT EXECUTE FUNCTION count_statement()
`

test('one import runs one statement for new servers and one for changed servers, and none without a change', async (t) => {
  const url = await createMigratedDatabase(server)
  const store = await openStore(t, url)
  const user = await addUser(store)
  const entries = Array.from({ length: 50 }, (_, index) => ({
    name: `Server ${index}`,
    address: `s${index}.example.com`,
    updated_at: NOW,
  }))
  const revised = entries.map((entry, index) => (index < 5 ? { ...entry, version: '2' } : entry))
  const more = [...revised, { name: 'One more', address: 'more.example.com', updated_at: NOW }]
  const save = (list: readonly ServerEntry[]) =>
    recordsOf(store).saveServers(user.id, null, list, operatorAt(NOW + 1))
  await asAdmin(url, async (admin) => {
    await admin.query(COUNT)
    const statements = async () => {
      const { rows } = await admin.query('DELETE FROM statements RETURNING operation')
      return rows.map(({ operation }) => operation as string).toSorted()
    }
    const revision = async () => (await admin.query('SELECT revision FROM listing_revisions')).rows

    assert.deepEqual(await save(entries), saved({ added: 50 }))
    assert.deepEqual(await statements(), ['INSERT'])
    const first = await revision()
    assert.deepEqual(await save(entries), saved({ unchanged: 50 }))
    assert.deepEqual(await statements(), [])
    assert.deepEqual(await revision(), first)
    await save(revised)
    assert.deepEqual(await statements(), ['UPDATE'])
    assert.notDeepEqual(await revision(), first)
    await save(more.map((entry) => ({ ...entry, updated_at: NOW + 2 })))
    assert.deepEqual(await statements(), ['INSERT', 'UPDATE'])
  })
})

test('a field that an import leaves out keeps what another program changes at that moment', async (t) => {
  const url = await createMigratedDatabase(server)
  const store = await openStore(t, url)
  const user = await addUser(store)
  const entry = { name: 'Survival', address: 'play.example.com' }
  await recordsOf(store).saveServers(user.id, null, [entry], operatorAt(NOW))
  await asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await admin.query(
      `UPDATE servers SET status = 'banned', version = '1.21', slug = 'survival', edition = 'bedrock'`,
    )
    const saving = recordsOf(store).saveServers(
      user.id,
      null,
      [{ ...entry, listing_kind: 'realm' }],
      operatorAt(NOW + 1),
    )
    await untilWaiting(url, 1)
    await admin.query('COMMIT')
    assert.deepEqual(await saving, saved({ changed: 1 }))
  })
  const [{ status, version, slug, edition, listing_kind } = assert.fail()] = await recordsOf(
    store,
  ).listServers(user.id)
  assert.deepEqual(
    [status, version, slug, edition, listing_kind],
    ['banned', '1.21', 'survival', 'bedrock', 'realm'],
  )
})
