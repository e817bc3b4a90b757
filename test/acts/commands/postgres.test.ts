import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openStore } from '../../../src/open-store.ts'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import type { Store } from '../../../src/database/store.ts'
import { addOrganization, join as joinOrganization, register } from '../../contract/people.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { addOwner, addUser, issueKey } from '../../fixtures/service.ts'
import { runCommand } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { askPatiently, besideService } from './beside-service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a state that is exported and applied on the other engine is exported alike, and old keys get 200', async (t) => {
  const program = programIn(t)
  const postgres = await createMigratedDatabase(server)
  const again = join(temporaryFolder(t), 'again.db')
  const sqlite = `sqlite:${program.databasePath}`
  const { key, revoked } = await filled(sqlite)
  // A use that lies within the last second is not yet over for the service that gets the key.
  const first = await program.serve()
  assert.equal((await ask(first.port, { key })).status, 200)
  first.kill('SIGTERM')
  await first.ended

  const exported = await at(sqlite, 'export')
  const { put_keys } = JSON.parse(exported.stdout) as { put_keys: { email: string }[] }
  assert.equal(put_keys.filter(({ email }) => email === 'ada@example.com').length, 2)
  for (const url of [postgres, `sqlite:${again}`]) {
    if (url !== postgres) await at(url, 'migrate')
    const applied = await at(url, 'apply - --yes', exported.stdout)
    assert.match(applied.stderr, /\n14 added, 0 changed, 0 removed or revoked\n/)
    assert.equal((await at(url, 'export')).stdout, exported.stdout)
    const twice = await at(url, 'apply -', exported.stdout)
    assert.match(twice.stderr, /\n0 changes\n/)
  }
  for (const url of [postgres, `sqlite:${again}`]) {
    const served = await program.serve({ env: { DATABASE_URL: url } })
    const answer = await askPatiently(served.port, key)
    assert.equal(answer.status, 200, answer.body)
    assert.deepEqual(
      JSON.parse(answer.body).servers.map(({ name }: { name: string }) => name),
      ['Second', 'First'],
    )
    assert.equal((await askPatiently(served.port, revoked)).status, 401)
    served.kill('SIGTERM')
    await served.ended
  }
})

test('apply beside a service on PostgreSQL changes keys and servers at once', async (t) => {
  const env = { DATABASE_URL: await createMigratedDatabase(server) }
  await besideService(programIn(t), { env })
})

/** Runs a command that must succeed on this database. */
async function at(url: string, args: string, stdin = '') {
  const ended = await runCommand(args, { env: { DATABASE_URL: url }, stdin })
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

/**
 * Users with keys, personal servers, and an organization with a server of each. One user is
 * disabled, and one has no address.
 */
async function filled(url: string): Promise<{ key: string; revoked: string }> {
  const store: Store = await openStore(parseDatabaseUrl(url, 'DATABASE_URL'), { create: true })
  const now = presentInstant()
  const { user: ada, key } = await addOwner(store, 'ada@example.com')
  const other = await issueKey(store, ada, 'leaked')
  await recordsOf(store).revokeApiKey(ada.id, other.id, operatorAt(now))
  const bob = await addUser(store, 'bob@example.com')
  const cid = await addUser(store, 'cid@example.com')
  await recordsOf(store).setDisabled(cid.id, true, operatorAt(now))
  await recordsOf(store).insertUser(createUser(null, '4711'), operatorAt(presentInstant()))
  const red = await addOrganization(store, ada, { slug: 'red', name: 'Red „Stone“ 🧱' }, now)
  await joinOrganization(store, red, ada, bob, now)
  const personal = { version: '1.21', listing_kind: 'realm', status: 'draft' }
  await register(store, ada, { name: 'First', slug: 'first', ...personal }, now - 2_000_001)
  await register(store, ada, { name: 'Second', slug: 'second' }, now - 1_000_003)
  for (const user of [ada, bob]) await register(store, user, { organization_id: red }, now)
  await issueKey(store, bob)
  await store.close()
  return { key, revoked: other.key }
}
