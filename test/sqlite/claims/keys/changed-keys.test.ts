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
 * A claim finds each key of the file, and only those, whatever another connection has done since
 * the last claim.
 */

test('a claim finds a key that comes back with a number before those of others', async (t) => {
  const { claim, claimAll, remove, renumber, add } = await serveKeys(t, 3)
  remove([2, 3])
  add(['later'])
  for (let round = 0; round < 3; round += 1) assert.equal(claim(2), 'unknown')
  renumber()
  add([2], 2)
  assert.deepEqual(claimAll(), ['granted', 'granted', 'granted'])
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

test('any sequence of changes, restores and restarts leaves each outcome true', async (t) => {
  const name = fc.integer({ min: 1, max: 60 })
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), names: fc.array(name, { maxLength: 40 }) }),
    fc.record({ kind: fc.constant('remove' as const), names: fc.array(name, { maxLength: 20 }) }),
    fc.record({ kind: fc.constant('claim' as const), names: fc.array(name, { maxLength: 12 }) }),
    fc.record({
      kind: fc.constantFrom('vacuum', 'renumber', 'save', 'restore', 'restart'),
      names: fc.constant([]),
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 25 }), async (changes) => {
      const { claim, ...does } = await serveKeys(t, 30)
      await does.save()
      for (const { kind, names } of changes) {
        if (kind === 'claim')
          for (const one of names)
            assert.equal(claim(one), does.names.has(`${one}`) ? 'granted' : 'unknown', `${one}`)
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
    `INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
     VALUES (?1, ?2, ?2, 'a', '', ?3, 1)`,
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

    /** SQLite chooses the numbers, unless one is given. */
    add: (some: readonly (number | string)[], serial: number | null = null) =>
      inTransaction(some, (name) => {
        if (!names.has(name)) insert.run(serial, randomUUID(), hashOf(name))
        names.add(name)
      }),

    remove: (some: readonly (number | string)[]) =>
      inTransaction(some, (name) => {
        remove.run(hashOf(name))
        names.delete(name)
      }),

    /** Makes SQLite give the numbers of deleted keys again. */
    renumber: () => other.exec('DELETE FROM sqlite_sequence'),

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
