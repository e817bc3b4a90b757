import type pg from 'pg'
import { MIGRATIONS } from '../postgres/migrate.ts'
import { ENDED, TABLES } from './archive.ts'

const LOCKED = [...TABLES.map(({ name }) => name), ...ENDED]
const OWN = [...LOCKED, 'listing_revisions', 'removed_claims', 'service_epoch', 'schema_migrations']
const OWN_LIST = `ARRAY(
  SELECT oid FROM pg_class
  WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname IN (${OWN.map((name) => `'${name}'`).join(', ')})
)`

/** The triggers that the migrations make, as SQL for a list of pairs. */
const OWN_TRIGGERS = MIGRATIONS.flatMap(({ sql }) =>
  Array.from(
    sql.matchAll(/^CREATE TRIGGER (\w+) [^;]*? ON (\w+)\s/gm),
    ([, name, table]) => `('${table}', '${name}')`,
  ),
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

/**
 * Disables the triggers of our tables that fire here. The returned function enables them again,
 * each in its own mode.
 */
export async function disableTriggers(client: pg.ClientBase): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ table: string; name: string; mode: string }>(`
    SELECT tgrelid::regclass AS table, quote_ident(tgname) AS name, tgenabled AS mode FROM pg_trigger
    WHERE tgrelid = ANY (${OWN_LIST}) AND NOT tgisinternal AND tgenabled IN ('O', 'A')`)
  for (const { table, name } of rows)
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${name}`)
  return async () => {
    // PostgreSQL alters no table that has a deferred check.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE')
    for (const { table, name, mode } of rows)
      await client.query(
        `ALTER TABLE ${table} ENABLE ${mode === 'A' ? 'ALWAYS' : ''} TRIGGER ${name}`,
      )
  }
}
