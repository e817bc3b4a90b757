import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { CLAIM_INTERVAL_US } from '../../../src/model/claim.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { type Claims, createClaims } from '../../../src/sqlite/claims/claims.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { randomFrom, seedOfRun } from '../../fixtures/random.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import { callWith } from './open-claims.ts'

/*
 * Between random claims, keys are deleted, inserted again and get other numbers, backups are
 * restored into the served file, the schema changes, and the service is restarted.
 */

const KEYS = ['svc_live_0', 'svc_live_1']
const STEPS = 1_000
/** What a start waits for if the file was restored before. */
const WAIT_MS = 1_250

test('no key gets two 200s within a second, whatever happens to the file', async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const file = await openFile(t)
  const grantedAt = new Map<string, number>()

  async function ask(keys: readonly string[]): Promise<unknown[]> {
    const decided = file.claims().claimBatch(keys.map(callWith))
    // The batch waits, as it does within a second of a claim that the file lacks.
    if (decided === null) return []
    const outcomes = decided.map((one) => (one instanceof Error ? one : one.outcome))
    for (const [index, key] of keys.entries()) {
      if (outcomes[index] !== 'granted') continue
      const now = file.clock.monotonic()
      const since = now - (grantedAt.get(key) ?? 0)
      assert.ok(since >= CLAIM_INTERVAL_US, `${key} got a 200 again after ${since / 1_000} ms`)
      grantedAt.set(key, now)
    }
    // The step of the compaction.
    await turn()
    return outcomes
  }

  const acts: (() => unknown)[] = [
    ...Array.from({ length: 3 }, () => () => ask(random.shuffle(KEYS))),
    ...[1, 200, 999].map((pauseMs) => () => file.clock.elapse(pauseMs)),
    () => file.remove(random.pick(KEYS)),
    () => file.insert(random.pick(KEYS)),
    () => file.renumber(random.shuffle(KEYS)),
    file.backUp,
    file.restore,
    file.changeSchema,
    file.restart,
  ]
  for (let step = 0; step < STEPS; step += 1) await random.pick(acts)()

  file.clock.elapse(2_000)
  for (const key of KEYS) file.insert(key)
  assert.deepEqual(await ask(KEYS), ['granted', 'granted'])
})

/** A served file, and what may happen to it. */
async function openFile(t: TestContext) {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  // The triggers compare a last use with the wall clock.
  const clock = { ...manualClock(), present: presentInstant }
  const other = new DatabaseSync(path)
  other.exec(
    `INSERT INTO users (id, email, created_at) VALUES ('${uuidOf(0)}', 'a@example.com', 0)`,
  )
  let serving: { database: DatabaseSync; claims: Claims } | null = null
  let isRestored = false

  function serve(): void {
    const database = new DatabaseSync(path, { timeout: 0 })
    const timer = createBatchTimer(assert.ifError)
    serving = { database, claims: createClaims(database, 'test', clock, timer) }
  }

  function end(): void {
    serving!.claims.close()
    serving!.database.close()
  }

  const { remove, insert } = keysIn(other)
  for (const key of KEYS) insert(key)
  await copy(path, `${path}.backup`)
  serve()
  t.after(() => {
    end()
    other.close()
  })
  return {
    clock,
    claims: () => serving!.claims,
    remove,
    insert,

    /** After more than a minute the triggers have forgotten the numbers of the keys. */
    renumber(keys: readonly string[]): void {
      clock.elapse(61_000)
      for (const key of keys) remove(key)
      other.exec('DELETE FROM removed_claims')
      for (const key of keys) insert(key)
    },

    backUp: () => copy(path, `${path}.backup`),

    async restore(): Promise<void> {
      await copy(`${path}.backup`, path)
      isRestored = true
    },

    changeSchema: () => other.exec('CREATE TABLE changed (id); DROP TABLE changed'),

    restart(): void {
      end()
      if (isRestored) clock.elapse(WAIT_MS)
      isRestored = false
      serve()
    },
  }
}

/** Removes a key, and inserts one that is missing. */
function keysIn(database: DatabaseSync) {
  let number = 0
  const removeKey = database.prepare('DELETE FROM api_keys WHERE key_hash = ?')
  const insertKey = database.prepare(
    `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
     SELECT ?1, id, 'bot', '', ?2, 1 FROM users
     WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE key_hash = ?2)`,
  )
  return {
    remove: (key: string) => removeKey.run(hashApiKey(key)),
    insert(key: string) {
      number += 1
      insertKey.run(uuidOf(number), hashApiKey(key))
    },
  }
}

async function copy(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from)
  await backup(source, to)
  source.close()
}
