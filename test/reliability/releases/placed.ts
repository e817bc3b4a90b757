import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openDatabase } from '../../../src/postgres/database.ts'
import * as postgres from '../../../src/postgres/migrate.ts'
import { ENDLESS } from '../../../src/postgres/patience.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { FILES, type KeptRelease, unpack } from './kept.ts'
import { type Rows, writeRows } from './postgres-rows.ts'

/** The file of the release with its journal. */
export function sqliteOf(t: TestContext, release: KeptRelease): { engine: 'sqlite'; path: string } {
  const path = placed(t, release, FILES.sqlite)
  writeFileSync(`${path}-revoked`, unpack(release, FILES.journal))
  return { engine: 'sqlite', path }
}

/** A database with the schema and the rows of the release. */
export async function postgresOf(
  server: Server,
  release: KeptRelease,
): Promise<{ engine: 'postgres'; url: string }> {
  const url = await createDatabase(server)
  const paths = Object.keys(release.migrations)
  const known = paths.filter((path) => path.startsWith('postgres/')).length
  const database = openDatabase(url, ENDLESS)
  await postgres.migrate(database, postgres.MIGRATIONS.slice(0, known))
  await database.close()
  const rows: Rows = JSON.parse(unpack(release, FILES.postgres).toString())
  await asAdmin(url, (client) => writeRows(client, rows))
  return { engine: 'postgres', url }
}

/** Unpacks a file of the release into a folder of its own. */
export function placed(t: TestContext, release: KeptRelease, name: string): string {
  const path = join(temporaryFolder(t), name.replace('.gz', ''))
  writeFileSync(path, unpack(release, name))
  return path
}
