import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createOlderClaims, type OlderClaims } from '../../../src/sqlite/claims/older-claims.ts'
import { createRecentClaims } from '../../../src/sqlite/claims/recent-claims.ts'
import { migrate } from '../../../src/sqlite/migrate.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import { BOOT, claimsOf, HASH, openRecent, range } from './open-recent.ts'

/*
 * Rows of `last_claims` move on to `older_claims`, so that the rows of the keys in use lie close
 * together. A start looks for the last second of claims in `last_claims` only.
 */

const NOW = 86_400_000_000
const SECOND = 1_000_000
const ROWS = 131_073

/** A file with one last use of each of so many keys, `age` microseconds ago in this boot. */
function withLastClaims(t: TestContext, rows: number, age: (serial: number) => number) {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database)
  const insert = database.prepare('INSERT INTO last_claims VALUES (?, ?, ?, 1)')
  database.exec('BEGIN')
  for (let serial = 1; serial <= rows; serial += 1)
    insert.run(serial, 2 * serial, NOW - age(serial))
  database.exec('COMMIT')
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  return { database, count }
}

/** Takes all steps. Returns their number. */
function moveAll(older: OlderClaims, afterStep = () => {}): number {
  for (let steps = 0; ; steps += 1) {
    const step = older.plan(1, NOW)
    if (step === null) return steps
    step.work()
    step.done()
    afterStep()
  }
}

test('131,072 rows stay, and one more makes all of them move, 512 at a time', (t) => {
  const { database, count } = withLastClaims(t, ROWS - 1, () => 2 * SECOND)
  assert.equal(moveAll(createOlderClaims(database)), 0)
  database.exec(`INSERT INTO last_claims VALUES (${ROWS}, ${2 * ROWS}, 0, 1)`)
  let moved = 0
  const steps = moveAll(createOlderClaims(database), () => {
    const [left, older] = [count('last_claims'), count('older_claims')]
    assert.equal(left + older, ROWS)
    assert.ok(older - moved <= 512)
    moved = older
  })
  assert.equal(steps, Math.ceil(ROWS / 512))
  assert.deepEqual([count('last_claims'), count('older_claims')], [0, ROWS])
  const wrong = database.prepare(
    'SELECT count(*) AS n FROM older_claims WHERE claimed_at <> 2 * api_key',
  )
  assert.equal(wrong.get()?.n, 0)
})

test('rows of the last second stay, also those from the future', (t) => {
  const ages = new Map([
    [1, SECOND],
    [2, SECOND + 1],
    [3, -SECOND],
    [4, SECOND / 2],
  ])
  const { database, count } = withLastClaims(t, ROWS, (serial) => ages.get(serial) ?? 5 * SECOND)
  // A stamp of another boot, which no clock of this one can place.
  database.exec('UPDATE last_claims SET boot = 2 WHERE api_key = 4')
  moveAll(createOlderClaims(database))
  const left = database.prepare('SELECT api_key FROM last_claims ORDER BY api_key').all()
  assert.deepEqual(
    left.map(({ api_key }) => api_key),
    [1, 3],
  )
  assert.equal(count('older_claims'), ROWS - 2)
})

test('a last use replaces the older one', (t) => {
  const { database } = withLastClaims(t, ROWS, () => 2 * SECOND)
  database.exec('INSERT INTO older_claims VALUES (7, 1), (200000, 5)')
  moveAll(createOlderClaims(database))
  const find = database.prepare('SELECT claimed_at FROM older_claims WHERE api_key = ?')
  assert.deepEqual([find.get(7)?.claimed_at, find.get(200_000)?.claimed_at], [14, 5])
})

test('an eighth of the largest key number stays, and a row that comes back counts once', (t) => {
  const { database } = withLastClaims(t, 100, () => 2 * SECOND)
  const older = createOlderClaims(database)
  older.add(8 * 140_000)
  for (let round = 0; round < 2; round += 1)
    for (let serial = 1; serial < 140_000; serial += 1) older.add(serial)
  assert.equal(older.plan(1, NOW), null)
  older.add(140_000)
  assert.notEqual(older.plan(1, NOW), null)
})

test('a start knows how many keys there are, and which of them have rows', (t) => {
  const { database } = withLastClaims(t, ROWS, () => 2 * SECOND)
  database.exec(`
    PRAGMA foreign_keys = OFF;
    INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
    VALUES (${8 * ROWS}, '${uuidOf(1)}', '${uuidOf(2)}', 'a', '', randomblob(32), 1)`)
  const older = createOlderClaims(database)
  older.add(1)
  assert.equal(older.plan(1, NOW), null)
  older.add(ROWS + 1)
  assert.notEqual(older.plan(1, NOW), null)
})

test('a table that a backup has replaced is counted anew', (t) => {
  const { database, count } = withLastClaims(t, ROWS, () => 2 * SECOND)
  const older = createOlderClaims(database)
  older.plan(1, NOW)!.done()
  database.exec('DELETE FROM last_claims WHERE api_key > 1')
  older.lookAgain()
  assert.equal(older.plan(1, NOW), null)
  assert.equal(count('last_claims'), 1)
})

test('nothing moves before this boot has a stamp', (t) => {
  const { database } = withLastClaims(t, ROWS, () => 2 * SECOND)
  const older = createOlderClaims(database)
  assert.equal(older.plan(1, 0), null)
  assert.notEqual(older.plan(1, NOW), null)
})

test('a start finds the last second of claims while rows move', async (t) => {
  const { path, database, recent, stamp, advance } = await openRecent(t)
  const addKeys = database.prepare(
    `INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
     VALUES (?, ?, ?, 'a', '', ?, 1)`,
  )
  database.exec('PRAGMA foreign_keys = OFF; BEGIN')
  for (const serial of [1, 2_000, 140_000]) {
    const hash = Uint8Array.from(HASH)
    hash[31] = serial & 0xff
    addKeys.run(serial, uuidOf(serial), uuidOf(serial), hash)
  }
  database.exec('COMMIT')
  const append = (from: number, to: number) => {
    database.exec('BEGIN IMMEDIATE')
    recent.append(
      range(from, to).flatMap((serial) => claimsOf(serial)),
      stamp(),
    )
    database.exec('COMMIT')
    recent.settle(true)
  }
  const stepTo = (table: string, rows: number) => {
    const counted = database.prepare(`SELECT count(*) AS n FROM ${table}`)
    while (Number(counted.get()?.n) < rows) recent.compactStep()
  }
  append(1, 140_000)
  advance(1_500)
  stepTo('last_claims', 140_000)
  append(1, 1)
  stepTo('older_claims', 1_000)
  // Claims of the last second are compacted, also of keys that the pass has not reached yet.
  append(2, 32_768)
  stepTo('older_claims', 100_000)
  const restarted = new DatabaseSync(path)
  t.after(() => restarted.close())
  const { lastUse } = createRecentClaims(restarted, BOOT, NOW + 2 * SECOND)
  const found = [1, 2_000, 140_000].map((serial) => lastUse(serial, HASH))
  assert.deepEqual(found, [NOW + 1.5 * SECOND, NOW + 1.5 * SECOND, 0])
})
