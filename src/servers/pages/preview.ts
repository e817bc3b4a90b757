import { html } from 'hono/html'
import { escapeInvisible } from '../../model/characters/invisible.ts'
import { renderServers, type ServerRow } from '../../model/server-row.ts'
import type { App, Dashboard } from '../../web/context.ts'
import { type Html, showLongText } from '../../web/html/text.ts'
import { serverExports } from '../records/server-exports.ts'
import type { Database } from '../../database/database.ts'

/** Entries in the preview. */
const FIRST = 2
/** A page with more rows has only the link, to stay below 50 kB. */
const ROWS_MAX = 20

/** Serves the exact bytes that the API returns for this user's keys. */
export function addPreviewRoutes(app: App, { database }: Dashboard): void {
  app.get('/dashboard/servers/preview.json', async (c) => {
    const rows = await serverExports(database).previewListing(c.get('session').userId)
    const body = new Uint8Array(renderServers(rows))
    return c.body(body, 200, { 'Content-Type': 'application/json; charset=utf-8' })
  })
}

/** Shows the first servers of that answer, indented. Nothing if the answer is empty. */
export async function showFirstOfPreview(
  database: Database,
  userId: string,
  rowsOfPage: number,
): Promise<Html | ''> {
  if (rowsOfPage > ROWS_MAX)
    return html`<p class="hint">See <a href="/dashboard/servers/preview.json">what the API returns right now</a>.</p>`
  const rows = await serverExports(database).previewListing(userId)
  if (rows.length === 0) return ''
  const more = rows.length - FIRST
  return html`<details class="card"><summary>What the API returns right now</summary>
${showJson(rows.slice(0, FIRST))}
<p>${more > 0 ? sayMore(more) : ''}<a href="/dashboard/servers/preview.json">Full response</a></p></details>`
}

function sayMore(servers: number): string {
  return servers === 1 ? '1 more server is not shown. ' : `${servers} more servers are not shown. `
}

function showJson(rows: readonly ServerRow[]): Html {
  const json = JSON.stringify(JSON.parse(renderServers(rows).toString()), null, 1)
  // Line by line: the breaks between lines are ours, those within a value are escaped already.
  const lines = json.split('\n').map(escapeInvisible).join('\n')
  return html`<pre tabindex="0" role="region" aria-label="JSON">${showLongText(lines)}</pre>`
}
