import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { AccountStore } from '../listing/accounts.ts'
import { transact } from './database.ts'

export function signInAttempts(
  database: DatabaseSync,
): Pick<AccountStore, 'beginAttempt' | 'forgetAttempts'> {
  const dropOld = database.prepare('DELETE FROM sign_in_attempts WHERE attempted_at < ?')
  // The attempt that has to grow old before another is allowed: the last but `attemptsMax`.
  const inTheWay = database.prepare(`
    SELECT attempted_at FROM sign_in_attempts WHERE subject = ? AND attempted_at >= ?
    ORDER BY attempted_at DESC LIMIT 1 OFFSET ?
  `)
  const insert = database.prepare(
    'INSERT INTO sign_in_attempts (id, subject, attempted_at) VALUES (?, ?, ?)',
  )
  const forget = database.prepare('DELETE FROM sign_in_attempts WHERE subject = ?')
  const forgetLast = database.prepare(`
    DELETE FROM sign_in_attempts WHERE id =
      (SELECT id FROM sign_in_attempts WHERE subject = ? ORDER BY attempted_at DESC LIMIT 1)
  `)

  return {
    async beginAttempt(subjects, since, now) {
      return transact(database, () => {
        const found = subjects.map(
          ({ subject, attemptsMax }) => inTheWay.get(subject, since, attemptsMax - 1)?.attempted_at,
        )
        const blocking = found.filter((instant) => instant !== undefined).map(Number)
        if (blocking.length > 0) return Math.max(...blocking)
        dropOld.run(since)
        for (const { subject } of subjects) insert.run(randomUUID(), subject, now)
        return null
      })
    },

    async forgetAttempts(subjects, others) {
      transact(database, () => {
        for (const subject of subjects) forget.run(subject)
        for (const subject of others) forgetLast.run(subject)
      })
    },
  }
}
