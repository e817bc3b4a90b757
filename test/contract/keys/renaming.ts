import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { revokeByPrefix } from '../../../src/keys/records/leaked-keys.ts'
import { renameApiKey } from '../../../src/keys/records/renamed-keys.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { addUser } from '../../fixtures/service.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** What a user changes about a key by its name or its prefix. */
export function renamingContract(open: OpenFixture): void {
  test('a key gets another name once, with an entry in the audit log', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store)
    const id = await addKey(store, user.id, 'bot')
    const rename = (name: string, was?: string) =>
      renameApiKey(
        store.database,
        user.id,
        id,
        { name, ...(was === undefined ? {} : { was }) },
        operatorAt(2),
      )
    const nameOf = async () => (await recordsOf(store).findApiKeys([id]))[0]!.name
    const renamed = await rename('  Discord bot ', 'bot')
    assert.ok(renamed !== null && 'apiKey' in renamed)
    assert.equal(renamed.apiKey.name, 'Discord bot')
    assert.ok('apiKey' in (await rename('Discord bot', 'bot'))!)
    const refusals = [
      [await rename('other', 'bot'), 'other name'],
      [await rename(' '), 'name'],
      [await rename('x'.repeat(65)), 'name'],
    ] as const
    for (const [refused, because] of refusals)
      assert.equal(refused !== null && 'because' in refused && refused.because, because)
    assert.equal(await nameOf(), 'Discord bot')
    await recordsOf(store).revokeApiKey(user.id, id, operatorAt(3))
    const late = await rename('late')
    assert.equal(late !== null && 'because' in late && late.because, 'revoked')
    assert.equal(await nameOf(), 'Discord bot')
    const events = await recordsOf(store).listEvents(user.id, 20)
    assert.deepEqual(
      events.filter(({ action }) => action === 'key renamed').map(({ subject }) => subject),
      [id],
    )
  })

  test('a key of another user, or none, is not renamed', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [await addUser(store), await addUser(store, 'bob@example.com')]
    const id = await addKey(store, ada.id, 'bot')
    for (const other of [id, randomUUID(), 'not an id'])
      assert.equal(
        await renameApiKey(store.database, bob.id, other, { name: 'x' }, operatorAt(2)),
        null,
      )
    assert.equal((await recordsOf(store).findApiKeys([id]))[0]!.name, 'bot')
  })

  test('a prefix revokes each active key that has it', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [await addUser(store), await addUser(store, 'bob@example.com')]
    const [one, two] = [await addKey(store, ada.id, 'one'), await addKey(store, ada.id, 'two')]
    const other = await addKey(store, ada.id, 'other', 'svc_live_fffffff')
    const theirs = await addKey(store, bob.id, 'theirs')
    const revoke = async (at: number, ...prefixes: string[]) => {
      const found = await revokeByPrefix(store.database, prefixes, operatorAt(at), ada.id)
      return found.map(({ id, revoked_at }) => [id, revoked_at])
    }
    assert.deepEqual(await revoke(2), [])
    assert.deepEqual(await revoke(2, 'svc_live_eeeeeee'), [])
    assert.deepEqual(await revoke(3, 'svc_live_fffffff'), [[other, 3]])
    await recordsOf(store).revokeApiKey(ada.id, one, operatorAt(4))
    const three = await addKey(store, ada.id, 'three')
    assert.deepEqual(
      new Map((await revoke(5, PREFIX, 'svc_live_fffffff')) as [string, number][]),
      new Map([
        [one, 4],
        [two, 5],
        [other, 3],
        [three, 5],
      ]),
    )
    const [kept] = await recordsOf(store).findApiKeys([theirs])
    assert.equal(kept!.revoked_at, null)
    const events = await recordsOf(store).listEvents(ada.id, 20)
    assert.equal(events.filter(({ action }) => action === 'key revoked').length, 4)
  })
}

const PREFIX = 'svc_live_0123456'

async function addKey(
  { database }: StoreFixture['store'],
  user_id: string,
  name: string,
  prefix = PREFIX,
): Promise<string> {
  const id = randomUUID()
  const times = { created_at: 1, revoked_at: null, last_used_at: null }
  const hash = crypto.getRandomValues(new Uint8Array(32))
  await apiKeys(database).insertApiKey(
    { id, user_id, name, prefix, ...times },
    hash,
    5,
    operatorAt(1),
  )
  return id
}
