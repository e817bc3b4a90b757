import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateKey } from '../../src/keys/api-key.ts'
import { findKeys } from '../../src/keys/leaked-keys.ts'
import { revokeLeakedKeys } from '../../src/keys/records/leaked-keys.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'

const KEY = `svc_live_${'0123456789abcdef'.repeat(4)}`

test('a key is found once anywhere in a text, in the case in which it was issued', () => {
  for (const text of [
    KEY,
    `\n\t${KEY}\r\n`,
    `KEY=${KEY}SERVER=x`,
    `${KEY}0`,
    `svc_live_svc_live_${KEY}`,
    `Bearer%20${KEY}%0a`,
    KEY.toUpperCase(),
    `${KEY}${KEY}`,
    `🎮${KEY}🎮`,
  ])
    assert.deepEqual(findKeys(text), [KEY], JSON.stringify(text))
})

test('all 224 keys of a text of 16 kB without spaces are found', () => {
  const keys = Array.from({ length: 224 }, generateKey)
  assert.deepEqual(findKeys(keys.join('')), keys)
})

test('an incomplete key is not found', () => {
  for (const text of ['', 'svc_live_', KEY.slice(0, -1), KEY.slice(1), KEY.replace('f', 'g')])
    assert.deepEqual(findKeys(text), [])
})

test('a text of any length is looked up in parts of at most 1,000 keys', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path, manualClock())
  t.after(() => store.close())
  const { key, keyId } = await addOwner(store, 'ada@example.com')
  const text = [...Array.from({ length: 2_000 }, generateKey), key].join(' ')
  const seen: [revoked: number, lookedUp: number][] = []
  const { found, apiKeys: keys } = await revokeLeakedKeys(store.database, text, operatorAt(7), {
    onPart: async (revoked, lookedUp) => void seen.push([revoked.length, lookedUp]),
  })
  assert.deepEqual(
    [found, keys.map(({ id, revoked_at }) => [id, revoked_at])],
    [2_001, [[keyId, 7]]],
  )
  assert.deepEqual(seen, [
    [0, 1_000],
    [0, 2_000],
    [1, 2_001],
  ])
})
