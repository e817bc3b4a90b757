import type { SecretStore } from '../../listing/accounts/passwords.ts'
import type { Database } from '../database.ts'
import { sql } from '../sql.ts'

export function secrets(database: Database): SecretStore {
  async function findSecret(name: string): Promise<string | null> {
    const row = await database.get<{ value: string }>(
      sql`SELECT value FROM secrets WHERE name = ${name}`,
    )
    return row?.value ?? null
  }

  return {
    findSecret,

    async keepSecret(name, fresh) {
      await database.run(sql`INSERT INTO secrets VALUES (${name}, ${fresh}) ON CONFLICT DO NOTHING`)
      return (await findSecret(name))!
    },
  }
}
