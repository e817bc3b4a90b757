import type { Instant } from '../../model/instant.ts'
import type { Database, Queries } from '../../database/database.ts'
import { at, inStrings, sql } from '../../database/sql.ts'

/** The subject under which an attempt counts: an account, an address, or both. */
export interface AttemptSubject {
  subject: string
  attemptsMax: number
}

/** The most expired attempts that one request removes. */
export const ATTEMPTS_DROPPED = 100

export function signInAttempts(database: Database) {
  const { instant, skipLocked } = database.dialect

  /**
   * The attempt that has to expire before the subject may have another one: the last but
   * `attemptsMax`.
   */
  async function findBlocking(
    queries: Queries,
    { subject, attemptsMax }: AttemptSubject,
    since: Instant,
  ): Promise<Instant[]> {
    const row = await queries.get<{ attempted_at: Instant }>(sql`
      SELECT ${instant('attempted_at')} FROM sign_in_attempts
      WHERE subject = ${subject} AND attempted_at >= ${at(since)}
      ORDER BY sign_in_attempts.attempted_at DESC LIMIT 1 OFFSET ${attemptsMax - 1}`)
    return row === null ? [] : [row.attempted_at]
  }

  return {
    /**
     * Counts a sign-in attempt under every subject and returns null. If a subject has reached its
     * maximum since `since`, counts nothing and returns the instant of the oldest attempt that
     * blocks. In both cases removes up to ATTEMPTS_DROPPED attempts from before `since`, the oldest
     * first.
     */
    async beginAttempt(
      subjects: readonly AttemptSubject[],
      since: Instant,
      now: Instant,
    ): Promise<Instant | null> {
      return database.transact(async (transaction) => {
        await transaction.lockNames(subjects.map(({ subject }) => subject))
        const blocking: Instant[] = []
        for (const subject of subjects)
          blocking.push(...(await findBlocking(transaction, subject, since)))
        await transaction.run(sql`
          WITH old AS MATERIALIZED (
            SELECT id FROM sign_in_attempts WHERE attempted_at < ${at(since)}
            ORDER BY attempted_at LIMIT ${ATTEMPTS_DROPPED} ${skipLocked}
          ) DELETE FROM sign_in_attempts WHERE id IN (SELECT id FROM old)`)
        if (blocking.length > 0) return Math.max(...blocking)
        for (const { subject } of subjects)
          await transaction.run(sql`
            INSERT INTO sign_in_attempts (id, subject, attempted_at)
            VALUES (${crypto.randomUUID()}, ${subject}, ${at(now)})`)
        return null
      })
    },

    /**
     * After a correct password, removes all attempts under `subjects` and the latest one under
     * `others`.
     */
    async forgetAttempts(subjects: readonly string[], others: readonly string[]): Promise<void> {
      await database.transact(async (transaction) => {
        await transaction.lockNames([...subjects, ...others])
        await transaction.run(
          sql`DELETE FROM sign_in_attempts WHERE subject ${inStrings(subjects)}`,
        )
        for (const subject of others)
          await transaction.run(sql`
            DELETE FROM sign_in_attempts WHERE id = (
              SELECT id FROM sign_in_attempts WHERE subject = ${subject}
              ORDER BY attempted_at DESC LIMIT 1
            )`)
      })
    },
  }
}
