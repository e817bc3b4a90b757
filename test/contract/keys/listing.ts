import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from './claim.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** The servers that a claim returns, their order, and when they are read again (spec 4.1). */
export function listingContract(open: OpenFixture): void {
  test("only the owner's personal servers are listed, of every status and edition", async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com', [
      { name: 'draft', address: 'd.example.com', status: 'draft' },
      { name: 'bedrock', address: 'b.example.com', edition: 'bedrock', status: 'anything' },
    ])
    await addOwner(store, 'bob@example.com', [{ name: 'not hers', address: 'x.example.com' }])
    const organization = await recordsOf(store).ensureOrganization(
      'guild',
      user.id,
      operatorAt(presentInstant()),
    )
    await recordsOf(store).saveServers(
      user.id,
      organization,
      [{ name: 'ours', address: 'o.example.com' }],
      operatorAt(NOW),
    )
    assert.deepEqual((await namesOf(store, key)).toSorted(), ['bedrock', 'draft'])
  })

  test('servers are listed newest first to the microsecond, ties by id descending', async (t) => {
    const { store, insertServerRow } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const ids = Array.from({ length: 5 }, () => randomUUID()).toSorted()
    for (const id of ids) await insertServerRow({ ...row(user.id, NOW), id, name: id })
    await insertServerRow({ ...row(user.id, NOW + 1), name: 'newer' })
    await insertServerRow({ ...row(user.id, NOW - 1), name: 'older' })
    assert.deepEqual(await namesOf(store, key), ['newer', ...ids.toReversed(), 'older'])
  })

  test('only the 100 most recently updated of 150 servers are listed', async (t) => {
    const { store } = await open(t)
    const entries = Array.from({ length: 150 }, (_, index) => ({
      name: `server ${index}`,
      address: `s${index}.example.com`,
      updated_at: NOW + index,
    }))
    const { key } = await addOwner(store, 'ada@example.com', entries)
    const expected = Array.from({ length: 100 }, (_, index) => `server ${149 - index}`)
    assert.deepEqual(await namesOf(store, key), expected)
  })

  test('an owner without servers gets an empty list', async (t) => {
    const { store } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    assert.deepEqual(await namesOf(store, key), [])
  })

  test('a claim returns rows only if the listing changed since the cached revision', async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    const { user, key } = await addOwner(store, 'ada@example.com', [
      { name: 'a', address: 'a.example.com' },
    ])
    const first = await claim(store, key)
    assert.ok(first.outcome === 'granted')

    await elapse(1_000)
    const again = await claim(store, key, first.revision)
    assert.ok(again.outcome === 'granted')
    assert.ok(again.rows === null)
    assert.equal(again.held.revision, first.revision)
    assert.equal(again.revision, first.revision)

    await recordsOf(second).saveServers(
      user.id,
      null,
      [{ name: 'b', address: 'b.example.com' }],
      operatorAt(NOW),
    )
    await elapse(1_000)
    const changed = await claim(store, key, first.revision)
    assert.ok(changed.outcome === 'granted')
    assert.deepEqual(
      changed.rows?.map(({ name }) => name),
      ['b', 'a'],
    )
    await second.close()
  })

  test("the cache is asked for the key's owner, at most once per claim", async (t) => {
    const { store, elapse } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const asked: string[] = []
    const listings = {
      get(userId: string) {
        asked.push(userId)
        return null
      },
    }
    for (const most of [1, 2]) {
      assert.equal((await store.claim(hashApiKey(key), listings)).outcome, 'granted')
      assert.ok(asked.length <= most)
      await elapse(1_000)
    }
    assert.deepEqual(new Set(asked), new Set([user.id]))
  })

  test('the next claim returns a listing that another program has changed', async (t) => {
    const { store, insertServerRow, elapse } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    let remembered: string | null = null
    for (let count = 1; count <= 5; count += 1) {
      await insertServerRow(row(user.id, NOW + count))
      const used = await claim(store, key, remembered)
      assert.ok(used.outcome === 'granted')
      assert.equal(used.rows?.length, count)
      remembered = used.revision
      await elapse(1_000)
    }
  })
}

async function namesOf(store: ServingStore, key: string): Promise<string[]> {
  const used = await claim(store, key)
  assert.ok(used.outcome === 'granted' && used.rows !== null)
  return used.rows.map(({ name }) => name)
}

function row(createdBy: string, updatedAt: number) {
  return {
    id: randomUUID(),
    created_by: createdBy,
    name: 'a',
    host_label: 'a.example.com',
    updated_at: updatedAt,
  }
}
