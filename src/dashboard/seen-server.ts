import { html } from 'hono/html'
import type { RegisteredServer } from '../listing/registered-server.ts'
import { shown, shownInstant, showPage } from './page.ts'
import { placeOf } from './servers.ts'
import type { Visit } from './visit.ts'

/** A server that somebody else registered under an organization: to be read, whole. */
export function showSeenServer(visit: Visit, server: RegisteredServer): Promise<Response> {
  const { name, address, slug, edition, status, version, listing_kind, updated_at } = server
  const facts = [
    ['Name', name],
    ['Address', address],
    ['Slug', slug],
    ['Edition', edition],
    ['Version', version],
    ['Kind', listing_kind],
    ['Status', status],
  ] as const
  return showPage(visit, {
    title: 'A server of another member',
    body: html`<div class="card"><dl>${facts.map(([label, value]) => (value === null ? '' : html`<dt class="label">${label}</dt><dd>${shown(value)}</dd>`))}
<dt class="label">Changed</dt><dd>${shownInstant(updated_at)}</dd></dl>
<p>Who registered it can change it. The API never returns it.</p></div>
<p><a href="${placeOf(server)}">Back to the organization</a></p>`,
  })
}
