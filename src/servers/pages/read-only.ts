import { html } from 'hono/html'
import type { RegisteredServer } from '../server.ts'
import type { Context } from '../../web/context.ts'
import { showPage } from '../../web/html/page.ts'
import { isolated, showInstant } from '../../web/html/text.ts'
import { listPathOf } from './location.ts'

/** Shows all of a server that another member registered under an organization. */
export function showSeenServer(c: Context, server: RegisteredServer): Promise<Response> {
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
  return showPage(c, {
    title: 'Another member’s server',
    lead: 'Only the member who registered it can change it. The API never returns it.',
    width: 'form',
    body: html`<dl class="card columns">${facts.map(([label, value]) => (value === null ? '' : html`<div><dt>${label}</dt><dd>${isolated(value)}</dd></div>`))}
<div><dt>Changed</dt><dd>${showInstant(updated_at)}</dd></div></dl>
<p><a class="button" href="${listPathOf(server)}">Back to the organization</a></p>`,
  })
}
