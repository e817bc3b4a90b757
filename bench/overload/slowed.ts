import type { Uses } from '../../src/sqlite/uses.ts'
import { asAdmin } from '../../test/fixtures/postgres-database.ts'

/** What a pace may be behind and still make good, in milliseconds: timers are late on a busy machine. */
const BEHIND_MS_MAX = 200

/** The real act on SQLite behind a file that somebody else holds the lock of, for as long as each batch is to take. */
export function slowedUses(uses: Uses, perSecond: number): Uses {
  let freeAt = 0
  return {
    ...uses,
    useTogether(calls) {
      const now = performance.now()
      if (now < freeAt) return null
      freeAt = Math.max(freeAt, now - BEHIND_MS_MAX) + (calls.length * 1_000) / perSecond
      return uses.useTogether(calls)
    },
  }
}

/** Connections that uses are decided on at the same time. */
const POSTGRES_CONNECTIONS = 2

/** A database in which each statement that records uses takes so long for each of them, its own work included. */
export async function slowPostgres(url: string, perSecond: number): Promise<void> {
  await asAdmin(url, (client) =>
    client.query(`
      CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(greatest(0, count(*) * ${POSTGRES_CONNECTIONS / perSecond}
          - extract(epoch FROM clock_timestamp() - statement_timestamp()))) FROM used;
        RETURN NULL;
      END $$;
      CREATE TRIGGER take_time AFTER UPDATE ON api_keys REFERENCING NEW TABLE AS used
        FOR EACH STATEMENT EXECUTE FUNCTION take_time();
    `),
  )
}
