import { open } from 'node:fs/promises'
import { type Manifest, NotBackedUp } from '../../transfer/backup/backup.ts'
import { writeBackup } from '../../transfer/backup/files.ts'
import { type Database, openDatabase } from '../database.ts'
import { assertUpToDate } from '../migrate.ts'
import { ENDLESS } from '../patience.ts'
import { unusable } from '../refusals.ts'
import { readFacts } from './facts.ts'
import { runTool, ToolFailed } from './tools.ts'

/**
 * Dumps a database with pg_dump while processes serve it, reads the dump again, and gives it its
 * name only then. The manifest counts what the dump's snapshot has. Throws NotBackedUp or
 * NotConfigured.
 */
export async function backUpPostgres(
  url: string,
  target: string,
  program: string,
): Promise<Manifest> {
  const database = openDatabase(url, ENDLESS)
  try {
    await assertUpToDate(database)
    return await writeBackup(target, program, (partial) => dump(database, url, partial))
  } catch (error) {
    if (error instanceof ToolFailed)
      throw new NotBackedUp(`cannot back up to ${target}: ${error.message}`)
    throw unusable(error) ?? error
  } finally {
    await database.close()
  }
}

function dump(database: Database, url: string, partial: string) {
  return database.transact(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    // The transaction waits for pg_dump, which reads its snapshot.
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    const { rows } = await client.query('SELECT pg_export_snapshot() AS snapshot')
    const facts = await readFacts(client)
    // pg_dump would make the file readable by others.
    await (await open(partial, 'wx', 0o600)).close()
    const content = ['--format=custom', '--no-owner', '--no-privileges']
    // The rows of unlogged tables are of one server's present start.
    const own = ['--no-unlogged-table-data', `--snapshot=${rows[0].snapshot}`, `--file=${partial}`]
    await runTool('pg_dump', [...content, ...own], url)
    await runTool('pg_restore', ['--file=/dev/null', partial])
    return facts
  })
}
