import type pg from 'pg'
import { TABLES } from './archive.ts'

/** Tables that a restore empties: what they say ends with it. */
export const EMPTIED = [
  'sessions',
  'sign_in_links',
  'sign_in_attempts',
  'secrets',
  'checked_imports',
  'server_changes',
] as const

const LOCKED = [...TABLES.map(({ name }) => name), ...EMPTIED]
const OWN = [...LOCKED, 'listing_revisions', 'removed_uses', 'service_epoch', 'schema_migrations']
const OWN_LIST = `ARRAY(
  SELECT oid FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relname IN (${OWN.map((name) => `'${name}'`).join(', ')})
)`

/** The triggers that the migrations make. */
export const TRIGGERS: Readonly<Record<string, readonly string[]>> = {
  users: ['users_disabled', 'users_kept'],
  identities: ['identities_kept'],
  api_keys: ['api_keys_kept', 'api_keys_listed', 'api_keys_removed', 'api_keys_truncated'],
  revoked_hashes: ['revoked_hashes_applied', 'revoked_hashes_kept', 'revoked_hashes_united'],
  servers: [
    'servers_changed',
    'servers_deleted',
    'servers_inserted',
    'servers_truncated',
    'servers_updated',
  ],
}
const OWN_TRIGGERS = Object.entries(TRIGGERS).flatMap(([table, names]) =>
  names.map((name) => `('${table}', '${name}')`),
)

/**
 * What other programs have attached to our tables, in words. A restore would fire their triggers,
 * and break or follow their references.
 */
export async function findAttached(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ found: string }>(`
    SELECT format('the foreign key %s of %s', conname, conrelid::regclass) AS found
    FROM pg_constraint
    WHERE contype = 'f' AND conparentid = 0
      AND (conrelid = ANY (${OWN_LIST})) <> (confrelid = ANY (${OWN_LIST}))
    UNION ALL
    SELECT format('the trigger %s on %s', tgname, tgrelid::regclass)
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE tgrelid = ANY (${OWN_LIST}) AND NOT tgisinternal
      AND (relname, tgname) NOT IN (${OWN_TRIGGERS.join(', ')})
    UNION ALL
    SELECT format('the rule %s on %s', rulename, ev_class::regclass)
    FROM pg_rewrite WHERE ev_class = ANY (${OWN_LIST})
    ORDER BY 1`)
  return rows.map(({ found }) => found)
}

/**
 * Waits for a lock at most this long, in milliseconds. Writers wait behind the one who waits, so
 * the first tries are short. From a second on, PostgreSQL ends a vacuum and finds deadlocks.
 */
const LOCK_WAITS_MS = [200, 400, 800, 1_600, 3_200]
const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/**
 * Locks what a restore writes until the transaction ends: others can read, and no session holds a
 * row. False if other sessions keep their locks.
 */
export async function lockTables(client: pg.ClientBase): Promise<boolean> {
  for (const waitMs of LOCK_WAITS_MS) {
    await client.query(`SET LOCAL lock_timeout = ${waitMs}; SAVEPOINT unlocked`)
    try {
      await client.query(`LOCK TABLE ${LOCKED.join(', ')} IN EXCLUSIVE MODE`)
      await client.query('RELEASE SAVEPOINT unlocked')
      return true
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error
      await client.query('ROLLBACK TO SAVEPOINT unlocked')
    }
  }
  return false
}

/** Sessions that hold a lock with which they may write, by the ids of their backends. */
export async function findWriters(client: pg.ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(`
    SELECT DISTINCT pid FROM pg_locks
    WHERE locktype = 'relation' AND relation = ANY (${OWN_LIST}) AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND mode <> 'AccessShareLock' AND pid <> pg_backend_pid()
    ORDER BY pid`)
  return rows.map(({ pid }) => pid)
}

const ENABLE: Readonly<Record<string, string>> = {
  O: 'ENABLE TRIGGER',
  R: 'ENABLE REPLICA TRIGGER',
  A: 'ENABLE ALWAYS TRIGGER',
}

/**
 * Disables the triggers of our tables. The returned function enables those again that were, each in
 * its own mode.
 */
export async function disableTriggers(client: pg.ClientBase): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ table: string; name: string; mode: string }>(`
    SELECT tgrelid::regclass AS table, quote_ident(tgname) AS name, tgenabled AS mode FROM pg_trigger
    WHERE tgrelid = ANY (${OWN_LIST}) AND NOT tgisinternal AND tgenabled <> 'D'`)
  for (const { table, name } of rows)
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${name}`)
  return async () => {
    // PostgreSQL alters no table that has a deferred check.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE')
    for (const { table, name, mode } of rows)
      await client.query(`ALTER TABLE ${table} ${ENABLE[mode]} ${name}`)
  }
}
