import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INSTANT_MAX } from '../../src/model/instant.ts'
import { addOwner } from '../fixtures/service.ts'
import type { OpenFixture } from './fixture.ts'
import { claim } from './keys/claim.ts'
import { saved } from './people.ts'
import { removeServer } from '../fixtures/changed-servers.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

/** Year 1, which Go writes for "never", and the end of year 9999. */
const FAR_PAST = -62_135_596_800_000_000
const FAR_FUTURE = 253_402_300_799_000_000

const FIELDS = {
  address: 'edited.example.com',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: null,
  organization_id: null,
}

/** Another program's rows with instants that a number can't hold to the microsecond. */
export function farInstantsContract(open: OpenFixture): void {
  test('servers with an out-of-range instant are listed in order, edited, deleted', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com', [
      { name: 'never', address: 'never.example.com', slug: 'never', updated_at: FAR_PAST },
      { name: 'always', address: 'always.example.com', updated_at: FAR_FUTURE },
      { name: 'last', address: 'last.example.com', updated_at: INSTANT_MAX },
      { name: 'now', address: 'now.example.com', updated_at: NOW },
    ])
    const expected = [
      ['always', INSTANT_MAX],
      ['last', INSTANT_MAX],
      ['now', NOW],
      ['never', -INSTANT_MAX],
    ]
    assert.deepEqual(namesAndInstants(await recordsOf(store).listServers(user.id)), expected)
    const found = await recordsOf(store).searchServers(user.id, { text: '', page: 1 })
    assert.deepEqual(namesAndInstants(found.servers), expected)
    const used = await claim(store, key)
    assert.ok(used.outcome === 'granted' && used.rows !== null)
    assert.deepEqual(
      used.rows.map(({ name }) => name),
      ['always', 'last', 'now', 'never'],
    )

    const [always, , , never] = found.servers
    assert.equal((await recordsOf(store).findServer(user.id, never!.id))?.updated_at, -INSTANT_MAX)
    assert.equal(
      (await recordsOf(store).findVisibleServer(user.id, always!.id))?.updated_at,
      INSTANT_MAX,
    )
    const fields = { ...FIELDS, name: 'edited', slug: 'edited' }
    assert.equal(
      await recordsOf(store).updateServer(user.id, never!.id, fields, operatorAt(NOW)),
      'written',
    )
    assert.equal(await removeServer(store.database, user.id, always!.id, NOW), true)
    assert.deepEqual(
      namesAndInstants(await recordsOf(store).listServers(user.id)).map(([name]) => name),
      ['last', ...(never!.id > found.servers[2]!.id ? ['edited', 'now'] : ['now', 'edited'])],
    )
  })

  test('a key with an out-of-range instant is revoked or disabled, and listed', async (t) => {
    const { store, execute, literal } = await open(t)
    const [bob, ada] = [
      await addOwner(store, 'b@example.com'),
      await addOwner(store, 'a@example.com'),
    ]
    const far = literal.instant(FAR_FUTURE)
    await execute(`UPDATE users SET disabled_at = ${far} WHERE id = '${bob.user.id}'`)
    await execute(`UPDATE api_keys SET revoked_at = ${far} WHERE user_id = '${ada.user.id}'`)
    for (const { key } of [bob, ada]) assert.equal((await claim(store, key)).outcome, 'revoked')
    const [listed] = await recordsOf(store).listApiKeys(ada.user.id)
    assert.equal(listed?.revoked_at, INSTANT_MAX)
  })

  test('an import changes a server whose instant is out of range', async (t) => {
    const { store } = await open(t)
    const entry = { name: 'a', address: 'a.example.com', updated_at: FAR_PAST }
    const { user } = await addOwner(store, 'ada@example.com', [
      entry,
      { ...entry, slug: 'a', address: 'b.example.com' },
    ])
    for (const slug of [{}, { slug: 'a', address: 'b.example.com' }]) {
      const sane = { ...entry, ...slug, updated_at: NOW }
      assert.deepEqual(
        await recordsOf(store).saveServers(user.id, null, [sane], operatorAt(NOW)),
        saved({ changed: 1 }),
      )
    }
    const instants = (await recordsOf(store).listServers(user.id)).map(
      ({ updated_at }) => updated_at,
    )
    assert.deepEqual(instants, [NOW, NOW])
  })
}

function namesAndInstants(servers: readonly { name: string; updated_at: number }[]): unknown[][] {
  return servers.map(({ name, updated_at }) => [name, updated_at])
}
