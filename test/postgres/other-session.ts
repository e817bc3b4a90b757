import type pg from 'pg'
import { eventually } from '../fixtures/eventually.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'

/** Runs `body` while another session holds the key's row. */
export function whileLocked<T>(url: string, keyId: string, body: () => Promise<T>): Promise<T> {
  return asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await admin.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [keyId])
    return body()
  })
}

/** Waits until this many sessions of the database wait for a lock. */
export function untilWaiting(url: string, count: number): Promise<void> {
  return asAdmin(url, (watcher) =>
    eventually(async () => {
      const { rowCount } = await watcher.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return rowCount === count
    }),
  )
}

/**
 * Pauses a statement between its snapshot and its locks, runs `meanwhile`, and resumes the
 * statement.
 */
export async function withPausedStatement<T>(
  url: string,
  client: pg.Client,
  { begin, meanwhile }: { begin: () => Promise<T>; meanwhile: () => Promise<unknown> },
): Promise<T> {
  await client.query(
    `CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_advisory_lock_shared(42); PERFORM pg_advisory_unlock_shared(42); RETURN true; END $$;
     ALTER TABLE service_epoch RENAME TO real_epoch;
     CREATE VIEW service_epoch AS SELECT * FROM real_epoch WHERE pause()`,
  )
  const resume = () =>
    client.query(
      'DROP VIEW service_epoch; DROP FUNCTION pause; ALTER TABLE real_epoch RENAME TO service_epoch',
    )
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return asAdmin(url, async (admin) => {
    await admin.query('SELECT pg_advisory_lock(42)')
    const begun = begin()
    await eventually(async () => {
      const waiting = await admin.query(
        `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`,
        [rows[0].pid],
      )
      return waiting.rowCount === 1
    })
    await meanwhile()
    await admin.query('SELECT pg_advisory_unlock(42)')
    const outcome = await begun
    await resume()
    return outcome
  })
}
