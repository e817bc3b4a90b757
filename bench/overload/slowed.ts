import type { Claims } from '../../src/sqlite/claims/claims.ts'
import { asAdmin } from '../../test/fixtures/postgres/database.ts'

/**
 * Largest lag that a slowed store catches up with, in milliseconds. Timers are late on a busy
 * machine, and without this the store would decide too few calls.
 */
const BEHIND_MS_MAX = 200

/**
 * The real claims of SQLite, as if another process held the file's lock for as long as each batch
 * should take.
 */
export function slowedClaims(claims: Claims, perSecond: number): Claims {
  let freeAt = 0
  return {
    ...claims,
    claimBatch(calls) {
      const now = performance.now()
      if (now < freeAt) return null
      freeAt = Math.max(freeAt, now - BEHIND_MS_MAX) + (calls.length * 1_000) / perSecond
      return claims.claimBatch(calls)
    },
  }
}

/**
 * Slows a database down to `perSecond` claims per second, over all sessions. A trigger keeps a
 * shared clock and advances it for each claim. A statement that records claims sleeps until that
 * clock. The clock may lag by BEHIND_MS_MAX.
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
