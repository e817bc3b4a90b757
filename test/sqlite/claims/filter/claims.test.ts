import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createClaims } from '../../../../src/sqlite/claims/claims.ts'
import { createBatchTimer } from '../../../../src/sqlite/claims/slow-batches.ts'
import { manualClock } from '../../../fixtures/clock.ts'
import { NO_LISTINGS } from '../../../fixtures/listings.ts'
import { nameOf } from '../open-claims.ts'
import { copyFile, hashOf, openKeys } from './open-keys.ts'

/*
 * The filter of key hashes never changes an outcome: a claim finds each key of the file, and only
 * those, whatever another connection has done since the last claim.
 */

test('a claim finds an added key at once, while the filter is loaded and after', async (t) => {
  const { claim, add } = await serveKeys(t, 100)
  for (let round = 0; round < 20; round += 1) {
    const name = `new ${round}`
    assert.equal(claim(name), 'unknown')
    add([name])
    assert.equal(claim(name), 'granted')
  }
})

test('a claim finds a deleted key again once it is back', async (t) => {
  const { claim, add, remove } = await serveKeys(t, 40)
  for (let round = 0; round < 10; round += 1) {
    assert.equal(claim(5), 'granted')
    remove([5])
    assert.equal(claim(5), 'unknown')
    add([5])
  }
})

test('a claim finds the keys of a restored file, and no others', async (t) => {
  const { claim, add, remove, save, restore } = await serveKeys(t, 20)
  await save()
  remove([1, 2])
  add(['later'])
  const outcomes = () => [1, 2, 'later', 'never'].map((name) => claim(name))
  for (let round = 0; round < 3; round += 1)
    assert.deepEqual(outcomes(), ['unknown', 'unknown', 'granted', 'unknown'])
  await restore()
  for (let round = 0; round < 3; round += 1)
    assert.deepEqual(outcomes(), ['granted', 'granted', 'unknown', 'unknown'])
})

test('a claim finds every key after their number has grown fivefold', async (t) => {
  const { claim, claimAll, add, names } = await serveKeys(t, 500)
  claimAll()
  add(Array.from({ length: 2_000 }, (_, index) => `more ${index}`))
  for (let round = 0; round < 2; round += 1) {
    assert.ok(claimAll().every((outcome) => outcome === 'granted'))
    for (let index = 0; index < names.size; index += 1)
      assert.equal(claim(`none ${index}`), 'unknown')
  }
})

test('any sequence of changes, restores and restarts leaves each outcome true', async (t) => {
  const name = fc.integer({ min: 1, max: 60 })
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), names: fc.array(name, { maxLength: 40 }) }),
    fc.record({ kind: fc.constant('remove' as const), names: fc.array(name, { maxLength: 20 }) }),
    fc.record({ kind: fc.constant('claim' as const), names: fc.array(name, { maxLength: 12 }) }),
    fc.record({
      kind: fc.constantFrom('grow', 'vacuum', 'save', 'restore', 'restart'),
      names: fc.constant([]),
    }),
  )
  let files = 0
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 25 }), async (changes) => {
      const { claim, ...does } = await serveKeys(t, 30)
      await does.save()
      files += 1
      for (const [index, { kind, names }] of changes.entries()) {
        if (kind === 'claim')
          for (const one of names)
            assert.equal(claim(one), does.names.has(`${one}`) ? 'granted' : 'unknown', `${one}`)
        else if (kind === 'grow')
          does.add(Array.from({ length: 700 }, (_, one) => `${files} ${index} ${one}`))
        else await does[kind](names)
      }
      assert.ok(does.claimAll().every((outcome) => outcome === 'granted'))
    }),
    { numRuns: 25 },
  )
})

/** Claims of a file with keys named from 1, and another connection that changes the file. */
async function serveKeys(t: TestContext, count: number) {
  const { path, database: other } = await openKeys(t, count)
  const clock = manualClock()
  const open = () => {
    const database = new DatabaseSync(path, { timeout: 0 })
    t.after(() => database.isOpen && database.close())
    return { database, ...createClaims(database, 'test', clock, createBatchTimer(assert.ifError)) }
  }
  let service = open()
  const names = new Set(Array.from({ length: count }, (_, index) => `${index + 1}`))
  let saved = { at: '', names: [...names] }
  const insert = other.prepare(
    `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
     VALUES (?1, ?1, 'a', '', ?2, 1, 1)`,
  )
  const remove = other.prepare('DELETE FROM api_keys WHERE key_hash = ?')

  function inTransaction(some: readonly (number | string)[], body: (name: string) => void): void {
    other.exec('BEGIN')
    for (const name of some) body(`${name}`)
    other.exec('COMMIT')
  }

  function claimNames(some: readonly string[]): string[] {
    clock.elapse(1_000)
    const calls = some.map((name) => ({ keyHash: hashOf(name), listings: NO_LISTINGS }))
    return service.claimBatch(calls)!.map(nameOf)
  }

  return {
    names,
    claim: (name: number | string) => claimNames([`${name}`])[0],
    claimAll: () => claimNames([...names]),

    add: (some: readonly (number | string)[]) =>
      inTransaction(some, (name) => {
        if (!names.has(name)) insert.run(randomUUID(), hashOf(name))
        names.add(name)
      }),

    remove: (some: readonly (number | string)[]) =>
      inTransaction(some, (name) => {
        remove.run(hashOf(name))
        names.delete(name)
      }),

    vacuum: () => other.exec('VACUUM'),

    async save() {
      saved = { at: `${path}.${randomUUID()}`, names: [...names] }
      await copyFile(path, saved.at)
    },

    async restore() {
      await copyFile(saved.at, path)
      names.clear()
      for (const name of saved.names) names.add(name)
    },

    restart() {
      service.close()
      service.database.close()
      service = open()
    },
  }
}
