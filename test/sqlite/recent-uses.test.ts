import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createRecentUses } from '../../src/sqlite/recent-uses.ts'
import { openRecent } from './open-recent.ts'

/*
 * The last use of every key, as it is remembered and as the next process reads it. Folding: folding.test.ts.
 */

test('a use whose transaction was rolled back is not remembered', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('ROLLBACK')
  recent.settle(false)
  assert.equal(recent.lastUse(1), 0)
})

test('a key of any number has its last use, from the first one on', async (t) => {
  const { database, recent, stamp, advance } = await openRecent(t)
  // Twice the number of the largest so far is the first one past what has a place.
  const serials = [1, 2, 3, 511, 1_022, 1_023, 5_000, 100_000]
  const expected = new Map<number, number>()
  for (const serial of serials) {
    assert.equal(recent.lastUse(serial), 0)
    advance(1)
    const now = stamp()
    database.exec('BEGIN IMMEDIATE')
    recent.append(serial, now)
    assert.equal(recent.lastUse(serial), 0)
    database.exec('COMMIT')
    recent.settle(true)
    expected.set(serial, now.monotonic)
    for (const [known, monotonic] of expected) assert.equal(recent.lastUse(known), monotonic)
  }
  for (const serial of [4, 510, 1_021, 1_024, 99_999, 1_000_000])
    assert.equal(recent.lastUse(serial), 0)
})

test('of what an earlier process recorded only the last second counts, of this boot, by the newest row', async (t) => {
  const { path, database } = await openRecent(t)
  const now = 86_400_000_000
  database.exec(`INSERT INTO boots (boot_id) VALUES ('other')`)
  database.exec(`
    INSERT INTO last_uses (api_key, used_at, monotonic, boot) VALUES
      (1, 1, ${now - 1_000_000}, 1), (2, 1, ${now - 999_999}, 1), (3, 1, ${now - 1}, 2), (4, 1, ${now - 500}, 1);
    INSERT INTO uses (number, api_key, used_at, monotonic, boot) VALUES
      (9, 4, 7, ${now - 300}, 1), (10, 4, 8, ${now - 200}, 1), (11, 5, 9, ${now - 100}, 1);
  `)
  const again = new DatabaseSync(path)
  t.after(() => again.close())
  const recent = createRecentUses(again, 1, now)
  const last = [1, 2, 3, 4, 5, 6].map((serial) => recent.lastUse(serial))
  assert.deepEqual(last, [0, now - 999_999, 0, now - 200, now - 100, 0])
  assert.equal(again.prepare('SELECT count(*) AS n FROM uses').get()?.n, 0)
  const wall = again.prepare('SELECT api_key, used_at FROM last_uses ORDER BY api_key').all()
  assert.deepEqual(
    wall.map(({ api_key, used_at }) => [api_key, used_at]),
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 8],
      [5, 9],
    ],
  )
})

test('the number of a commit that failed is not given again, since it may have been one all the same', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('COMMIT')
  recent.settle(false)
  assert.equal(recent.lastUse(1), 0)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('COMMIT')
  recent.settle(true)
  assert.notEqual(recent.lastUse(1), 0)
})
