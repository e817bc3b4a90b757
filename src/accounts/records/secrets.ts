import type { SecretName } from '../passwords.ts'
import type { Database } from '../../database/database.ts'
import { sql } from '../../database/sql.ts'

export function secrets(database: Database) {
  async function findSecret(name: string): Promise<string | null> {
    const row = await database.get<{ value: string }>(
      sql`SELECT value FROM secrets WHERE name = ${name}`,
    )
    return row?.value ?? null
  }

  return {
    /** The secret with this name, or null. */
    findSecret,

    /**
     * The secret with this name. If there is none, stores `fresh`. All callers get the same one.
     */
    async keepSecret(name: SecretName, fresh: string): Promise<string> {
      await database.run(sql`INSERT INTO secrets VALUES (${name}, ${fresh}) ON CONFLICT DO NOTHING`)
      return (await findSecret(name))!
    },
  }
}
