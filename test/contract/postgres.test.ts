import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { INSTANT_MAX } from '../../src/model/instant.ts'
import { makePasswordsCheap } from '../fixtures/passwords/cheap-passwords.ts'
import { removeDatabase } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addOwner } from '../fixtures/service.ts'
import { shareDatabase } from './postgres-fixture.ts'
import { textContract } from './servers/search.ts'
import { storeContract } from './store-contract.ts'
import { recordsOf } from '../fixtures/records.ts'

let server: Server
const urls: string[] = []

/** Created by this test with the cluster's locale C. */
const plain = shareDatabase(() => create())
/**
 * The collation of most installations: rules of the language decide order and upper and lower case.
 */
const icu = shareDatabase(() =>
  create(`TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'und'`),
)

before(async () => {
  server = await openServer()
})
after(async () => {
  for (const { close } of [plain, icu]) await close()
  for (const url of urls) await removeDatabase(server, url)
  await server.remove()
})

makePasswordsCheap()
storeContract('PostgreSQL', plain.open)
suite('PostgreSQL with ICU: text', () => textContract(icu.open))

test('an instant of infinity is listed as the last one that a number can hold', async (t) => {
  const { store, execute } = await plain.open(t)
  const { user } = await addOwner(store, 'ada@example.com', [{ name: 'a', address: 'a.example' }])
  await execute(`UPDATE servers SET updated_at = 'infinity'`)
  assert.equal((await recordsOf(store).listServers(user.id))[0]?.updated_at, INSTANT_MAX)
})

async function create(options?: string): Promise<string> {
  const url = await createMigratedDatabase(server, options)
  urls.push(url)
  return url
}
