import type { Database } from '../../database/database.ts'
import { inStrings, sql } from '../../database/sql.ts'

/**
 * Makes the table that a site's functions read equal to OPERATORS. Only PostgreSQL has it. Writes
 * nothing if it is equal, so that a start on a read-only standby can go on. Of two processes with
 * different settings, the one that started last wins.
 */
export async function keepOperatorAddresses(
  database: Database,
  operators: readonly string[],
): Promise<void> {
  const stored = await database.all<{ email: string }>(sql`SELECT email FROM operator_addresses`)
  const left = new Set(operators)
  if (stored.length === left.size && stored.every(({ email }) => left.has(email))) return
  await database.transact(async (transaction) => {
    await transaction.lockNames(['operator addresses'])
    await transaction.run(
      sql`DELETE FROM operator_addresses WHERE NOT email ${inStrings(operators)}`,
    )
    await transaction.runGiven(
      { email: 'text' },
      operators.map((email) => ({ email })),
      (given) => sql`
        INSERT INTO operator_addresses ${given.rowsOf(sql`${given.column('email')}`)}
        ON CONFLICT DO NOTHING`,
    )
  })
}
