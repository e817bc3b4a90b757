import { html } from 'hono/html'
import type { App, Context, Dashboard, Site } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { manageAt, showSite } from '../../web/html/site.ts'
import { type Html, isolated, showInstant } from '../../web/html/text.ts'
import { servers } from '../records/servers.ts'
import { FIELD_NAMES, FIELDS } from '../fields.ts'
import type { RegisteredServer } from '../server.ts'
import { listPathOf } from './location.ts'
import { FORMER } from './list/table.ts'
import { namesOfMembers } from '../../organizations/records/members.ts'

/** The page of each server, if the site alone changes servers. */
export function addVisibleServerRoute(app: App, dashboard: Dashboard): void {
  app.get('/dashboard/servers/:id', async (c) => {
    const { userId } = c.get('session')
    const server = await servers(dashboard.database).findVisibleServer(userId, c.req.param('id'))
    return server === null ? showNotFound(c) : showVisibleServer(dashboard, c, server)
  })
}

/** Shows all of a server that the user can't change here. */
export async function showVisibleServer(
  { database, site }: Pick<Dashboard, 'database' | 'site'>,
  c: Context,
  server: RegisteredServer,
): Promise<Response> {
  const { userId } = c.get('session')
  const isOwn = server.created_by === userId
  const members = isOwn
    ? null
    : await namesOfMembers(database, userId, server.organization_id ?? '')
  const facts = [
    ...FIELD_NAMES.map((name) => [FIELDS[name].label, server[name]] as const),
    ['Registered by', members && (members.get(server.created_by) ?? FORMER)],
  ] as const
  return showPage(c, {
    title: isOwn ? 'Your server' : 'Another member’s server',
    lead: html`${sayWhoChanges(site)} ${server.organization_id === null ? '' : 'The API never returns it.'}`,
    ...(site.managesServers ? { actions: showAction(manageAt(site)) } : {}),
    width: 'form',
    body: html`<dl class="card columns">${facts.map(([label, value]) => (value === null ? '' : html`<div><dt>${label}</dt><dd>${isolated(value)}</dd></div>`))}
<div><dt>Changed</dt><dd>${showInstant(server.updated_at)}</dd></div></dl>
<p><a class="button" href="${listPathOf(server)}">${server.organization_id === null ? 'Back to your servers' : 'Back to the organization'}</a></p>`,
  })
}

function sayWhoChanges(site: Site): Html {
  if (site.managesServers) return html`Change it at ${showSite(site)}.`
  return html`Only the member who registered it can change it.`
}
