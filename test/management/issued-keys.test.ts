import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { issueApiKey } from '../../src/keys/records/issued-keys.ts'
import type { Store } from '../../src/database/store.ts'
import type { User } from '../../src/accounts/user.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addUser } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

test('an issued key is returned once, and its record is stored', async (t) => {
  const { store, user } = await openStore(t)
  const issued = await issueApiKey(store.database, user.id, ' bot ', operatorAt(NOW))
  assert.ok('key' in issued)
  const { id, ...rest } = issued.apiKey
  assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.deepEqual(rest, {
    user_id: user.id,
    name: 'bot',
    prefix: issued.key.slice(0, 16),
    created_at: NOW,
    revoked_at: null,
    last_used_at: null,
  })
  assert.deepEqual(await recordsOf(store).listApiKeys(user.id), [issued.apiKey])
  assert.deepEqual(
    (
      await recordsOf(store).revokeApiKeysByHash([hashApiKey(issued.key)], operatorAt(NOW), user.id)
    )[0]?.id,
    issued.apiKey.id,
  )
})

test('an invalid name issues no key, and the error says why', async (t) => {
  const { store, user } = await openStore(t)
  assert.deepEqual(await issueApiKey(store.database, user.id, ' ', operatorAt(NOW)), {
    refused: `a key's name must have 1 to 64 characters, not 0: " "`,
    because: 'name',
  })
  assert.deepEqual(await recordsOf(store).listApiKeys(user.id), [])
})

test('a second call with the same id issues no key and says so', async (t) => {
  const { store, user } = await openStore(t)
  const id = randomUUID()
  const first = await issueApiKey(store.database, user.id, 'bot', operatorAt(NOW), id)
  assert.ok('key' in first)
  assert.equal(first.apiKey.id, id)
  const second = await issueApiKey(store.database, user.id, 'bot', operatorAt(NOW), id)
  assert.ok('refused' in second)
  assert.equal(second.because, 'known')
  assert.match(second.refused, /issued by this form already/)
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 1)
})

test('the sixth active key is refused with the limit and what to do', async (t) => {
  const { store, user } = await openStore(t)
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    assert.ok('key' in (await issueApiKey(store.database, user.id, name, operatorAt(NOW))))
  const sixth = await issueApiKey(store.database, user.id, 'f', operatorAt(NOW))
  assert.ok('refused' in sixth)
  assert.equal(sixth.because, 'at limit')
  assert.match(sixth.refused, /has 5 active keys, the maximum; revoke one/)
})

async function openStore(t: TestContext): Promise<{ store: Store; user: User }> {
  const store = await openSqliteStore(join(temporaryFolder(t), 'listing.db'), { create: true })
  t.after(() => store.close())
  return { store, user: await addUser(store) }
}
