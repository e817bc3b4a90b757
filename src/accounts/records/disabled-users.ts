import type { Database } from '../../database/database.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from './audit.ts'
import type { NamedUser } from '../user.ts'
import { HAS_ACCESS, nameIn } from './user-columns.ts'

/** Triggers of the schema copy the state to the keys, and end sessions and the sign-in link. */
export function disabledUsers(database: Database) {
  return {
    /**
     * Disables the user: every key of the user is refused, and all sessions, sign-ins under way and
     * the sign-in link end. Or enables the user with the same keys. A disabled user who is disabled
     * again keeps the instant.
     */
    async setDisabled(
      userId: string,
      isDisabled: boolean,
      actor: Actor,
    ): Promise<'changed' | 'unchanged' | 'not found'> {
      const user = sql`id = ${uuid(userId)}`
      const isOther = isDisabled ? sql`disabled_at IS NULL` : sql`disabled_at IS NOT NULL`
      const value = isDisabled ? at(actor.at) : null
      return act(database, actor, async (transaction, note) => {
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
        if (changed === 1) {
          const action = isDisabled ? 'user disabled' : 'user enabled'
          note(action, userId, await nameIn(transaction, userId))
          return 'changed'
        }
        const found = await transaction.get(sql`SELECT 1 FROM users WHERE ${user}`)
        return found === null ? 'not found' : 'unchanged'
      })
    },

    /** The users whose access an operator or the site has ended. */
    listWithoutAccess: (): Promise<NamedUser[]> =>
      database.all(
        sql`SELECT id, email, external_id FROM users WHERE NOT (${HAS_ACCESS}) ORDER BY created_at, id`,
      ),
  }
}
