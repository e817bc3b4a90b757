import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keepOperatorAddresses } from '../../../src/accounts/records/operator-addresses.ts'
import { programIn } from '../../cli/program.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { openStore } from '../claims/outcomes.ts'
import { openSite } from './site.ts'

/*
 * The table of OPERATORS, which keeps these addresses from the users of a site.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const STORED = 'SELECT email FROM operator_addresses ORDER BY email'

test('the table is made equal to the setting, also by two processes at once', async (t) => {
  const url = await createMigratedDatabase(server)
  const [{ database }, { database: other }] = [await openStore(t, url), await openStore(t, url)]
  const stored = () =>
    asAdmin(url, async (admin) =>
      (await admin.query<{ email: string }>(STORED)).rows.map(({ email }) => email),
    )
  for (const list of [['a', 'b'], ['b', 'c', 'c'], ['c', 'b'], ['b', 'b'], [], ['a']]) {
    await keepOperatorAddresses(database, list)
    assert.deepEqual(await stored(), [...new Set(list)].toSorted(), list.join())
  }
  for (let round = 0; round < 10; round += 1) {
    const lists = [
      [`x${round}`, 'both'],
      [`y${round}`, 'both'],
    ]
    await Promise.all([
      keepOperatorAddresses(database, lists[0]!),
      keepOperatorAddresses(other, lists[1]!),
    ])
    const found = await stored()
    assert.ok(
      lists.some((list) => list.toSorted().join() === found.join()),
      found.join(),
    )
  }
})

test('a start on a read-only database goes on if the table is equal', async (t) => {
  const url = await createMigratedDatabase(server)
  await keepOperatorAddresses((await openStore(t, url)).database, ['a'])
  const name = new URL(url).pathname.slice(1)
  await asAdmin(url, (admin) =>
    admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`),
  )
  const { database } = await openStore(t, url)
  await keepOperatorAddresses(database, ['a'])
  await assert.rejects(keepOperatorAddresses(database, ['b']), /the database is read-only/)
})

test('no user of a site gets an address of OPERATORS, from the start of the service on', async (t) => {
  const site = await openSite(t, server)
  const rows = [{ external_id: '1', email: 'ops@example.com' }]
  for (const [OPERATORS, isRefused] of [
    ['Ops@example.com,eve@example.com', true],
    ['eve@example.com', false],
  ] as const) {
    const served = await programIn(t).serve({ env: { DATABASE_URL: site.url, OPERATORS } })
    await served.written(/no account yet/)
    const answer = await site.call('put_users', rows)
    const reasons = answer.refused.map(({ reason }) => reason)
    assert.deepEqual(reasons, isRefused ? ['address of an operator'] : [])
    served.kill('SIGTERM')
    await served.ended
  }
  await assert.rejects(site.query('SELECT * FROM listing.operator_addresses'), /permission denied/)
  await assert.rejects(site.query('DELETE FROM listing.operator_addresses'), /permission denied/)
})
