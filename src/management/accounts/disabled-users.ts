import type { UserStore } from '../../listing/accounts/user.ts'
import type { Database } from '../database.ts'
import { at, sql, uuid } from '../sql.ts'

/** Triggers of the schema copy the state to the keys, and end sessions and the sign-in link. */
export function disabledUsers(database: Database): Pick<UserStore, 'setDisabled'> {
  return {
    async setDisabled(userId, disabledAt) {
      const user = sql`id = ${uuid(userId)}`
      const isOther = disabledAt === null ? sql`disabled_at IS NOT NULL` : sql`disabled_at IS NULL`
      const value = disabledAt === null ? null : at(disabledAt)
      return database.transact(async (transaction) => {
        // A sign-in or a new key that has this lock ends before the triggers run.
        await transaction.lock('users', [userId])
        const apiKeys = await transaction.all<{ id: string }>(
          sql`SELECT id FROM api_keys WHERE user_id = ${uuid(userId)}`,
        )
        // In the order in which a revocation of several keys locks them.
        await transaction.lock(
          'api_keys',
          apiKeys.map(({ id }) => id),
        )
        const changed = await transaction.run(
          sql`UPDATE users SET disabled_at = ${value} WHERE ${user} AND ${isOther}`,
        )
        if (changed === 1) return 'changed'
        const found = await transaction.get(sql`SELECT 1 FROM users WHERE ${user}`)
        return found === null ? 'not found' : 'unchanged'
      })
    },
  }
}
