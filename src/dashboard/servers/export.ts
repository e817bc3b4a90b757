import type { ServerImportStore } from '../../listing/servers/server-import.ts'
import { writeServers } from '../../listing/servers/file/export.ts'
import type { App, Context, Dashboard } from '../context.ts'

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
} as const

/** Serves the user's personal servers as files that the import reads. */
export function addExportRoutes(app: App, { store }: Dashboard<ServerImportStore>): void {
  app.get('/dashboard/servers/export.csv', (c) => sendServers(store, c, 'csv'))
  app.get('/dashboard/servers/export.json', (c) => sendServers(store, c, 'json'))
}

async function sendServers(
  store: ServerImportStore,
  c: Context,
  format: 'csv' | 'json',
): Promise<Response> {
  const servers = await store.listServers(c.get('session').userId)
  const personal = servers.filter(({ organization }) => organization === null)
  return c.body(writeServers(personal, format), 200, {
    'Content-Type': TYPES[format],
    'Content-Disposition': `attachment; filename="servers.${format}"`,
  })
}
