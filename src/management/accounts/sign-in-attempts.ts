import type { Instant } from '../../listing/instant.ts'
import {
  ATTEMPTS_DROPPED,
  type AttemptStore,
  type AttemptSubject,
} from '../../listing/accounts/sign-in-attempts.ts'
import type { Database, Queries } from '../database.ts'
import { at, inStrings, sql } from '../sql.ts'

export function signInAttempts(database: Database): AttemptStore {
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
    async beginAttempt(subjects, since, now) {
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

    async forgetAttempts(subjects, others) {
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
