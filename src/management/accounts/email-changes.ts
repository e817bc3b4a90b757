import { formatInstant } from '../../listing/instant.ts'
import type { PasswordStore } from '../../listing/accounts/passwords.ts'
import type { Database } from '../database.ts'
import { sql, uuid } from '../sql.ts'
import { findPasswordHash } from './passwords.ts'

export function emailChanges(database: Database): Pick<PasswordStore, 'changeEmail'> {
  return {
    async changeEmail(userId, checked, email, now) {
      try {
        return await database.transact(async (transaction) => {
          // A change of the password that runs now ends before this reads the hash.
          await transaction.lock('users', [userId])
          if ((await findPasswordHash(transaction, userId)) !== checked) return 'outdated'
          // An address that another user still has is refused at once. The unique index would wait
          // for that user's own change, and two users who swap addresses would deadlock.
          const changed = await transaction.run(sql`
            UPDATE users SET email = ${email}, name = ${email}, updated_at = ${formatInstant(now)}
            WHERE id = ${uuid(userId)} AND NOT EXISTS (
              SELECT 1 FROM users AS other WHERE other.email = ${email} AND other.id <> users.id
            )`)
          return changed === 1 ? 'changed' : 'taken'
        })
      } catch (error) {
        if (database.dialect.isTaken(error)) return 'taken'
        throw error
      }
    },
  }
}
