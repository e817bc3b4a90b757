import { renderServers } from '../../model/server-row.ts'
import type { App, Dashboard } from '../../web/context.ts'
import { serverExports } from '../records/server-exports.ts'

/** Serves the exact bytes that the API returns for this user's keys. */
export function addPreviewRoutes(app: App, { database }: Dashboard): void {
  app.get('/dashboard/servers/preview.json', async (c) => {
    const rows = await serverExports(database).previewListing(c.get('session').userId)
    const body = new Uint8Array(renderServers(rows))
    return c.body(body, 200, { 'Content-Type': 'application/json; charset=utf-8' })
  })
}
