import { html, raw } from 'hono/html'
import { renderServers, SERVERS_MAX, type ServerRow } from '../listing/server.ts'
import { type Html, showPage } from './page.ts'
import type { App, Dashboard } from './visit.ts'

const FIRST = 3

/** What the API answers this user's keys with: on a page to read, and as the very bytes. */
export function addPreviewRoutes(app: App, { store }: Dashboard): void {
  app.get('/dashboard/servers/preview', async (visit) => {
    const rows = await store.previewListing(visit.get('session').userId)
    return showPage(visit, {
      title: 'What the API returns',
      body: html`<p>The body of a 200 for any of your keys, with line breaks for reading: ${rows.length} ${rows.length === 1 ? 'server' : 'servers'}, newest first, at most ${SERVERS_MAX}. <a href="/dashboard/servers/preview.json">The bytes as they are</a></p>
${showJson(rows, 1)}
<p><a href="/dashboard/servers">Back to the servers</a></p>`,
    })
  })

  app.get('/dashboard/servers/preview.json', async (visit) => {
    const rows = await store.previewListing(visit.get('session').userId)
    const body = new Uint8Array(renderServers(rows))
    return visit.body(body, 200, { 'Content-Type': 'application/json; charset=utf-8' })
  })
}

export function showFirstOfPreview(rows: readonly ServerRow[]): Html {
  const more = rows.length - FIRST
  return html`<section><h2>What the API returns</h2>
${showJson(rows.slice(0, FIRST), 2)}
<p>${more > 0 ? `and ${more} more. ` : ''}<a href="/dashboard/servers/preview">The whole answer</a></p></section>`
}

/** Quotes need no escape in a text, and a hundred servers have three thousand of them. */
function showJson(rows: readonly ServerRow[], indent: number): Html {
  const json = JSON.stringify(JSON.parse(renderServers(rows).toString()), null, indent)
  const escaped = json.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return html`<pre tabindex="0" role="region" aria-label="JSON">${raw(escaped)}</pre>`
}
