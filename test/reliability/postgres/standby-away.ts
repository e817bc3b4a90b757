import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import type { Cluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openStore, outcomeOf, RETURN_MS, untilGranted } from '../../postgres/claims/outcomes.ts'

/** A polite client's pace: longer than giving up a claim and ending its backend takes. */
const PACE_MS = 1_500
/** The connections of one process for the API. */
const BACKENDS_MAX = 4

/**
 * A synchronous standby is away for this long, and every commit waits for it. Clients with many
 * keys keep asking. No client gets a 429, the server has no more backends than documented, and none
 * of them keeps a lock.
 */
export async function checkStandbyAway(
  t: TestContext,
  cluster: Cluster,
  { keys: count, awayMs }: { keys: number; awayMs: number },
): Promise<void> {
  const url = await createDatabase(cluster)
  const store = await openStore(t, url)
  const [first, ...keys] = await issueKeys(url, count + 1)
  assert.equal(await outcomeOf(store, first!), 'granted')
  await awaitStandbys(url, 'ghost')
  t.after(() => awaitStandbys(url, ''))
  const end = performance.now() + awayMs
  const [outcomes, backends] = await Promise.all([
    Promise.all(keys.map((key, index) => askUntil(store, key, index, end))),
    sampleBackends(url, end),
  ])
  const counts = countOf(outcomes.flat())
  t.diagnostic(`${JSON.stringify(counts)}, at most ${backends} backends`)
  assert.deepEqual(Object.keys(counts), ['AuthenticationFault'])
  assert.ok(backends <= BACKENDS_MAX, `${backends} backends`)
  await assertNothingHeld(url)

  await awaitStandbys(url, '')
  const { tookMs } = await untilGranted(store, first!)
  t.diagnostic(`granted ${tookMs.toFixed()} ms after the standby returned`)
  assert.ok(tookMs < RETURN_MS, `${tookMs} ms`)
  const after = await Promise.all(keys.slice(0, 500).map((key) => outcomeOf(store, key)))
  assert.deepEqual(countOf(after), { granted: after.length })
}

/**
 * Makes every commit wait for standbys of these names, which do not exist. An empty text ends the
 * wait.
 */
export async function awaitStandbys(url: string, names: string): Promise<void> {
  await asAdmin(url, async (admin) => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await admin.query('SELECT pg_reload_conf()')
    while ((await doCommitsWait(admin, url)) !== (names !== '')) await delay(5)
  })
}

/** The server takes a moment to tell its processes. */
function doCommitsWait(admin: pg.Client, url: string): Promise<boolean> {
  return asAdmin(url, async (other) => {
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid')
    const commit = other.query(`SELECT pg_logical_emit_message(true, 'probe', '')`)
    const isOver = () => Promise.race([commit.then(() => true), delay(1, false)])
    while (!(await isOver())) {
      const waiting = await admin.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'`,
        [rows[0].pid],
      )
      if (waiting.rowCount === 1) {
        await commit
        return true
      }
    }
    return false
  })
}

async function askUntil(
  store: ServingStore,
  key: string,
  index: number,
  end: number,
): Promise<string[]> {
  await delay((PACE_MS * (index % 100)) / 100)
  const outcomes: string[] = []
  while (performance.now() < end) {
    outcomes.push(await outcomeOf(store, key))
    await delay(PACE_MS)
  }
  return outcomes
}

/** The highest number of backends of services at one time. */
async function sampleBackends(url: string, end: number): Promise<number> {
  return asAdmin(url, async (admin) => {
    let most = 0
    while (performance.now() < end) {
      most = Math.max(most, (await backendsOf(admin)).length)
      await delay(20)
    }
    return most
  })
}

export async function backendsOf(admin: pg.Client): Promise<number[]> {
  const { rows } = await admin.query(
    `SELECT pid FROM pg_stat_activity
     WHERE application_name = 'server-listing' AND datname = current_database()`,
  )
  return rows.map(({ pid }) => pid as number)
}

/**
 * Checks, with the standby still away, that no backend waits for it and that each key's row can be
 * locked.
 */
export async function assertNothingHeld(url: string): Promise<void> {
  await asAdmin(url, async (admin) => {
    const isWaiting = async () => {
      const { rowCount } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()`,
      )
      return rowCount! > 0
    }
    const until = performance.now() + 5_000
    while (await isWaiting()) {
      assert.ok(performance.now() < until, 'a backend still waits for the standby')
      await delay(20)
    }
    await admin.query('BEGIN; SELECT FROM api_keys FOR UPDATE NOWAIT; ROLLBACK')
  })
}

/** Keys of as many owners. Written with SQL, because issuing so many takes long. */
async function issueKeys(url: string, count: number): Promise<string[]> {
  const keys = Array.from(
    { length: count },
    (_, n) => `svc_live_${n.toString(16).padStart(64, '0')}`,
  )
  await asAdmin(url, (admin) =>
    admin.query(
      `WITH owners AS (
         INSERT INTO users (id, email, created_at)
         SELECT gen_random_uuid(), n || '@example.com', now()
         FROM generate_series(1, cardinality($1::bytea[])) AS n RETURNING id
       )
       INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
       SELECT gen_random_uuid(), id, 'bot', 'svc_live_', key_hash, now()
       FROM (SELECT id, row_number() OVER () AS n FROM owners) AS owners
       JOIN unnest($1::bytea[]) WITH ORDINALITY AS hashes (key_hash, n) USING (n)`,
      [keys.map(hashApiKey)],
    ),
  )
  return keys
}

function countOf(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
