import { serverFile } from '../file/write-servers.ts'
import type { App, Context, Dashboard } from '../../web/context.ts'
import type { Database } from '../../database/database.ts'
import { serverExports } from '../records/server-exports.ts'

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
} as const

/** Serves the user's personal servers as files that the import reads. */
export function addExportRoutes(app: App, { database }: Dashboard): void {
  app.get('/dashboard/servers/export.csv', (c) => sendServers(database, c, 'csv'))
  app.get('/dashboard/servers/export.json', (c) => sendServers(database, c, 'json'))
}

/**
 * Reads all servers before it sends the first byte. A client that reads slowly would keep SQLite
 * from emptying its log, and a failure must not look like the end of a file.
 */
async function sendServers(
  database: Database,
  c: Context,
  format: 'csv' | 'json',
): Promise<Response> {
  const file = serverFile(format)
  const parts: Buffer[] = []
  await serverExports(database).readServers(c.get('session').userId, 'personal', (servers) => {
    parts.push(Buffer.from(file.add(servers)))
  })
  parts.push(Buffer.from(file.end()))
  return c.body(ReadableStream.from(parts), 200, {
    'Content-Type': TYPES[format],
    'Content-Length': String(parts.reduce((sum, { length }) => sum + length, 0)),
    'Content-Disposition': `attachment; filename="servers.${format}"`,
  })
}
