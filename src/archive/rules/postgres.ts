import type { Finding } from '../../model/health/finding.ts'
import type { Database } from '../../postgres/database.ts'
import { withOwnSchema } from '../foreign.ts'
import { rowsOf, withoutTimeouts } from '../postgres-backup.ts'
import { collectBroken, judgeRows } from './judge.ts'
import { rulesOfBoth, type Breach } from './schema.ts'

/**
 * Judges the rows of a database for `doctor`. Types, encoding and CHECKs are the server's own work.
 * References and triggers are not, for a session in the role of a replica.
 */
export async function inspectPostgresRows(database: Database): Promise<Finding[]> {
  const broken = collectBroken()
  await database.transact(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    await withoutTimeouts(client)
    for await (const rows of rowsOf(client, withOwnSchema(rulesOfBoth)))
      for (const row of rows) {
        const [table, name, breach, column] = row.map(String) as [string, string, Breach, string]
        broken.add({ table, name, breach, column })
      }
  })
  return judgeRows(broken.all())
}
