import { html, raw } from 'hono/html'
import { renderServers, type ServerRow } from '../listing/server.ts'
import type { Html } from './page.ts'
import type { App, Dashboard } from './visit.ts'

const FIRST = 3

/** What the API answers this user's keys with, as the very bytes. */
export function addPreviewRoutes(app: App, { store }: Dashboard): void {
  app.get('/dashboard/servers/preview.json', async (visit) => {
    const rows = await store.previewListing(visit.get('session').userId)
    const body = new Uint8Array(renderServers(rows))
    return visit.body(body, 200, { 'Content-Type': 'application/json; charset=utf-8' })
  })
}

/** The first entries of it, with line breaks for reading. */
export function showFirstOfPreview(rows: readonly ServerRow[]): Html {
  const more = rows.length - FIRST
  return html`<section><h2>What the API returns</h2>
${showJson(rows.slice(0, FIRST))}
<p>${more > 0 ? `and ${more} more. ` : ''}<a href="/dashboard/servers/preview.json">The whole answer</a></p></section>`
}

/** Quotes need no escape in a text. */
function showJson(rows: readonly ServerRow[]): Html {
  const json = JSON.stringify(JSON.parse(renderServers(rows).toString()), null, 1)
  const escaped = json.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return html`<pre tabindex="0" role="region" aria-label="JSON">${raw(escaped)}</pre>`
}
