import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Store } from '../../src/database/store.ts'
import type { AddressedUser } from '../../src/accounts/user.ts'
import { addOwner, issueKey } from '../fixtures/service.ts'
import type { OpenFixture } from './fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, register } from './people.ts'
import { claim } from './keys/claim.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

/** What the schema enforces, whichever program writes to the database. */
export function schemaContract(open: OpenFixture): void {
  test('a key has a name of 1 to 64 characters and a unique hash of 32 bytes', async (t) => {
    const { store, execute } = await open(t)
    const { user, keyId } = await addOwner(store, 'ada@example.com')
    await issueKey(store, user)
    const set = (change: string) => execute(`UPDATE api_keys SET ${change} WHERE id = '${keyId}'`)
    for (const name of ['', 'ä'.repeat(65)]) await assert.rejects(set(`name = '${name}'`))
    for (const name of ['a', 'ä'.repeat(64)]) await set(`name = '${name}'`)
    await execute('CREATE TABLE kept AS SELECT * FROM api_keys')
    await execute(`DELETE FROM api_keys WHERE id = '${keyId}'`)
    const insert = (hash: string) =>
      execute(`
        INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
        SELECT id, user_id, name, prefix, ${hash}, created_at FROM kept WHERE id = '${keyId}'`)
    for (const hash of ['substr(key_hash, 1, 31)', `key_hash || substr(key_hash, 1, 1)`])
      await assert.rejects(insert(hash))
    await assert.rejects(insert('(SELECT key_hash FROM api_keys)'))
    await insert('key_hash')
    await execute('DROP TABLE kept')
  })

  test('the schema enforces each unique column', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await signIn(store, ada!)
    await signIn(store, bob!)
    const id = await addOrganization(store, ada!)
    await addOrganization(store, ada!)
    for (const email of ['eve@example.com', 'joe@example.com']) await invite(execute, id, email)
    await join(store, id, ada!, bob!)
    for (const user of [ada!, bob!])
      await execute(`INSERT INTO identities VALUES ('issuer', '${user.email}', '${user.id}')`)
    for (const change of [
      `users SET email = 'same'`,
      `organizations SET slug = 'same'`,
      `sessions SET token_hash = 'same'`,
      `identities SET subject = 'same'`,
      `invitations SET id = '${randomUUID()}'`,
      `invitations SET email = 'same'`,
      `members SET user_id = '${ada!.id}' WHERE organization_id = '${id}'`,
    ])
      await assert.rejects(execute(`UPDATE ${change}`))
  })

  test('a role is owner or member', async (t) => {
    const { store, execute } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await addOrganization(store, ada!)
    await assert.rejects(execute(`UPDATE members SET role = 'guest'`))
    for (const role of ['member', 'owner']) await execute(`UPDATE members SET role = '${role}'`)
  })

  cascadesContract(open)
}

function cascadesContract(open: OpenFixture): void {
  test("deleting a user by any program deletes the user's rows", async (t) => {
    const { store, execute } = await open(t)
    const { user: ada, key } = await addOwner(store, 'ada@example.com', [
      { name: 'hers', address: 'a.example' },
    ])
    const [bob] = await addUsers(store, 'bob')
    await signIn(store, ada)
    await execute(`INSERT INTO identities VALUES ('issuer', 'ada', '${ada.id}')`)
    const id = await addOrganization(store, bob!)
    await join(store, id, bob!, ada)
    await execute(`UPDATE members SET role = 'owner'`)
    await execute(`DELETE FROM members WHERE user_id = '${bob!.id}'`)
    await invite(execute, id, 'eve@example.com')
    await join(store, id, ada, bob!)
    assert.equal((await claim(store, key)).outcome, 'granted')

    await execute(`DELETE FROM users WHERE id = '${ada.id}'`)
    assert.equal((await claim(store, key)).outcome, 'unknown')
    assert.deepEqual(await recordsOf(store).listServers(ada.id), [])
    assert.equal(await recordsOf(store).findPasswordHash(ada.id), null)
    assert.equal(await recordsOf(store).findSession([ada.email], NOW), null)
    assert.equal((await recordsOf(store).listMembers(bob!.id, id)).length, 1)
    for (const table of [
      'api_keys',
      'servers',
      'sessions',
      'passwords',
      'identities',
      'invitations',
    ])
      await assertEmpty(execute, table)
  })

  test('deleting an organization by any program deletes its rows', async (t) => {
    const { store, execute } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const id = await addOrganization(store, ada!)
    await invite(execute, id, 'bob@example.com')
    await register(store, ada!, { organization_id: id })
    const personal = await register(store, ada!)
    await execute(`DELETE FROM organizations WHERE id = '${id}'`)
    assert.deepEqual(
      (await recordsOf(store).listServers(ada!.id)).map((server) => server.id),
      [personal],
    )
    for (const table of ['members', 'invitations']) await assertEmpty(execute, table)
  })
}

async function signIn(store: Store, user: AddressedUser): Promise<void> {
  await recordsOf(store).setPassword(user.id, 'hash', OPERATOR)
  const times = { startedAt: NOW, expiresAt: NOW + 1_000_000 }
  const session = { userId: user.id, tokenHash: user.email, userAgent: '', address: '', ...times }
  assert.equal(await recordsOf(store).beginSession(session, 'hash', null), true)
}

/** As version 0.1.0 does, for the only member. */
async function invite(
  execute: (sql: string) => Promise<void>,
  organizationId: string,
  email: string,
): Promise<void> {
  await execute(`INSERT INTO invitations (id, organization_id, email, invited_by, invited_at)
    SELECT '${randomUUID()}', organization_id, '${email}', user_id, joined_at FROM members
    WHERE organization_id = '${organizationId}'`)
}

/** Turns all rows of the table into secrets without a value, which the schema refuses. */
async function assertEmpty(execute: (sql: string) => Promise<void>, table: string): Promise<void> {
  const insert = `INSERT INTO secrets (name, value) SELECT 'setup', NULL FROM ${table}`
  await assert.doesNotReject(execute(insert), `${table} has rows`)
}
