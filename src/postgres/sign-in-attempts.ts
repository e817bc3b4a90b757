import type { AccountStore } from '../listing/accounts.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'

/** In one order, so that two that wait for each other's subjects do not wait for ever. */
const LOCK = `
  SELECT pg_advisory_xact_lock(hashtextextended(subject, 0))
  FROM (SELECT subject FROM unnest($1::text[]) AS subjects (subject) ORDER BY 1) AS sorted
`

const COUNT = `
  WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::int[]) AS asked (subject, attempts_max)
  ), blocking AS (
    -- The attempt that has to grow old before another is allowed: the last but the maximum.
    SELECT max(earlier.attempted_at) AS attempted_at FROM asked CROSS JOIN LATERAL (
      SELECT attempted_at FROM sign_in_attempts
      WHERE subject = asked.subject AND attempted_at >= ${timestampOf('$3')}
      ORDER BY attempted_at DESC LIMIT 1 OFFSET asked.attempts_max - 1
    ) AS earlier
  ), old AS (
    DELETE FROM sign_in_attempts WHERE id IN (
      SELECT id FROM sign_in_attempts WHERE attempted_at < ${timestampOf('$3')}
      LIMIT 100 FOR UPDATE SKIP LOCKED
    )
  ), counted AS (
    INSERT INTO sign_in_attempts (id, subject, attempted_at)
    SELECT gen_random_uuid(), subject, ${timestampOf('$4')} FROM asked WHERE (SELECT attempted_at FROM blocking) IS NULL
  )
  SELECT ${microsecondsOf('attempted_at')} FROM blocking
`

export function signInAttempts(
  database: Database,
): Pick<AccountStore, 'beginAttempt' | 'forgetAttempts'> {
  return {
    async beginAttempt(subjects, since, now) {
      const named = subjects.map(({ subject }) => subject)
      return database.transact(async (client) => {
        // One after the other for each subject, so that what is counted is what was allowed.
        await client.query(LOCK, [named])
        const maxima = subjects.map(({ attemptsMax }) => attemptsMax)
        const { rows } = await client.query(COUNT, [named, maxima, since, now])
        return toInstant(rows[0].attempted_at as string | null)
      })
    },

    async forgetAttempts(subjects, others) {
      await database.query(
        `DELETE FROM sign_in_attempts WHERE subject = ANY ($1::text[]) OR id IN (
           SELECT DISTINCT ON (subject) id FROM sign_in_attempts WHERE subject = ANY ($2::text[])
           ORDER BY subject, attempted_at DESC
         )`,
        [subjects, others],
      )
    },
  }
}
