import type { TestContext } from 'node:test'
import { removeDatabase } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer } from '../fixtures/postgres/server.ts'

/** The URL of a new PostgreSQL database with the current schema, until the end of the test. */
export async function migrateTo(t: TestContext): Promise<string> {
  const server = await openServer()
  const url = await createMigratedDatabase(server)
  t.after(async () => {
    await removeDatabase(server, url)
    await server.remove()
  })
  return url
}
