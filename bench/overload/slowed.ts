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

/**
 * A database in which the statements that record uses take so long, all together: each waits until it is its turn by a
 * clock that goes on by that much for each use, and may be behind as above.
 */
export async function slowPostgres(url: string, perSecond: number): Promise<void> {
  await asAdmin(url, (client) =>
    client.query(`
      CREATE SEQUENCE pace;
      CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          present bigint;
          free_at bigint;
        BEGIN
          PERFORM pg_advisory_lock(1);
          present := extract(epoch FROM clock_timestamp()) * 1000000;
          SELECT greatest(last_value, present - ${BEHIND_MS_MAX * 1_000}) INTO free_at FROM pace;
          free_at := free_at + (SELECT count(*) FROM used) * ${1_000_000 / perSecond};
          PERFORM setval('pace', free_at);
          PERFORM pg_advisory_unlock(1);
          PERFORM pg_sleep((free_at - present) / 1000000.0);
          RETURN NULL;
        END
      $$;
      CREATE TRIGGER take_time AFTER UPDATE ON api_keys REFERENCING NEW TABLE AS used
        FOR EACH STATEMENT EXECUTE FUNCTION take_time();
    `),
  )
}
