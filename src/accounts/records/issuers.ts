import type { Actor } from '../../model/audit.ts'
import type { Database } from '../../database/database.ts'
import { sql } from '../../database/sql.ts'
import { act } from './audit.ts'

/** A subject that another user has at the issuer to which an identity should move. */
export interface Taken {
  subject: string
  from_user: string
  to_user: string
}

export function issuers(database: Database) {
  return {
    /** The issuers of all identities, those with the most first. */
    listIssuers: (): Promise<{ issuer: string; count: number }[]> =>
      database.all(sql`
        SELECT issuer, count(*) AS count FROM identities GROUP BY issuer ORDER BY count DESC, issuer`),

    /**
     * Gives all identities of one issuer to another one, which must have the same subjects. Returns
     * how many those are. Changes nothing if another user has one of them there, and returns it.
     */
    moveIdentities: (
      from: string,
      to: string,
      actor: Actor,
    ): Promise<{ moved: number } | { taken: Taken }> =>
      act(database, actor, async (transaction, note) => {
        const taken = await transaction.get<Taken>(sql`
          SELECT subject, here.user_id AS from_user, there.user_id AS to_user
          FROM identities AS here JOIN identities AS there USING (subject)
          WHERE here.issuer = ${from} AND there.issuer = ${to} AND here.user_id <> there.user_id
          ORDER BY subject LIMIT 1`)
        if (taken !== null) return { taken }
        // A user may have connected both already.
        await transaction.run(sql`
          DELETE FROM identities WHERE issuer = ${to}
            AND subject IN (SELECT subject FROM identities WHERE issuer = ${from})`)
        const moved = await transaction.run(
          sql`UPDATE identities SET issuer = ${to} WHERE issuer = ${from}`,
        )
        await transaction.run(
          sql`UPDATE users SET email_issuer = ${to} WHERE email_issuer = ${from}`,
        )
        if (moved > 0) note('identities moved', null, `${moved} from ${from} to ${to}`)
        return { moved }
      }),
  }
}
