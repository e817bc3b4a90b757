import { html } from 'hono/html'
import { INVITATION_KEPT } from '../listing/invitation.ts'
import { PAGE_SIZE, type ServerPage } from '../listing/registered-server.ts'
import { showInvitationNote } from './invitations.ts'
import { type Html, notice, showNotFound, shown, showPage } from './page.ts'
import { showFirstOfPreview } from './preview.ts'
import { showServerRows } from './server-rows.ts'
import { type App, type Dashboard, fieldOf, type Visit } from './visit.ts'

const DONE = new Map([
  ['registered', 'The server is registered.'],
  ['changed', 'The server is changed.'],
  ['deleted', 'The server is deleted.'],
])

/** The user's servers: the list, and what is done to one of them from there. */
export function addServerRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard

  app.get('/dashboard/servers', async (visit) => {
    const { userId } = visit.get('session')
    const asked = readSearch(visit)
    const page = await store.searchServers(userId, asked)
    const organizations = await store.listOrganizations(userId)
    const invitations = await store.listInvitations(userId, now() - INVITATION_KEPT)
    const rows = await store.previewListing(userId)
    const done = DONE.get(visit.req.query('done') ?? '')
    const under = organizations.reduce((sum, { servers }) => sum + servers, 0)
    return showPage(visit, {
      title: 'Servers',
      body: html`${done === undefined ? '' : notice('good', done)}${showInvitationNote(invitations)}
<div class="row"><p>What the API returns for your keys.</p>
<a class="button" href="/dashboard/servers/new">Register a server</a></div>
<div class="beside"><section>
${showSearched('/dashboard/servers', asked, page, html`<p class="empty">No servers yet. Register the first one: the API returns it with the next request.</p>`)}
${under > 0 ? html`<p class="hint">${under} more ${under === 1 ? 'is' : 'are'} under your <a href="/dashboard/organizations">organizations</a>. The API never returns these.</p>` : ''}
</section>
${rows.length > 0 ? showFirstOfPreview(rows) : ''}</div>`,
    })
  })

  app.post('/dashboard/servers/status', async (visit) => {
    const { userId } = visit.get('session')
    const draft = fieldOf(visit, 'draft')
    const [id, status] =
      draft === '' ? [fieldOf(visit, 'published'), 'published'] : [draft, 'draft']
    const server = await store.findServer(userId, id)
    if (server === null) return showNotFound(visit)
    if (!(await store.setServerStatus(userId, server.id, status, now()))) return showNotFound(visit)
    return visit.redirect(`${placeOf(server)}?done=changed`, 303)
  })

  app.get('/dashboard/servers/:id/delete', async (visit) => {
    const server = await store.findServer(visit.get('session').userId, visit.req.param('id'))
    if (server === null) return showNotFound(visit)
    return showPage(visit, {
      title: 'Delete a server',
      body: html`<form class="card" method="post" action="/dashboard/servers/${server.id}/delete">
<p>Delete ${shown(server.name)} (<code>${server.address}</code>)? This cannot be undone.</p>
<div class="row"><button class="danger">Delete ${shown(server.name)}</button>
<a href="${placeOf(server)}">Keep it</a></div>
</form>`,
    })
  })

  app.post('/dashboard/servers/:id/delete', async (visit) => {
    const { userId } = visit.get('session')
    const server = await store.findServer(userId, visit.req.param('id'))
    if (server === null || !(await store.removeServer(userId, server.id)))
      return showNotFound(visit)
    return visit.redirect(`${placeOf(server)}?done=deleted`, 303)
  })
}

/** The page that a server is listed on. */
export function placeOf({ organization_id }: { organization_id: string | null }): string {
  return organization_id === null
    ? '/dashboard/servers'
    : `/dashboard/organizations/${organization_id}`
}

const SEARCH_LENGTH_MAX = 64

export function readSearch(visit: Visit): { text: string; page: number } {
  const page = Number(visit.req.query('page') ?? 1)
  const isPage = Number.isInteger(page) && page >= 1 && page <= 10_000
  const typed = (visit.req.query('q') ?? '').replace(/\p{Cc}/gu, '').trim()
  const text = [...typed].slice(0, SEARCH_LENGTH_MAX).join('')
  return { text, page: isPage ? page : 1 }
}

/** The search field, the rows that were found, and the way to the other pages. */
export function showSearched(
  path: string,
  { text, page }: { text: string; page: number },
  { servers, total }: ServerPage,
  whenNone: Html,
  userId?: string,
): Html {
  const pages = Math.max(page, Math.ceil(total / PAGE_SIZE))
  const link = (to: number) => {
    const query = new URLSearchParams({ ...(text === '' ? {} : { q: text }), page: String(to) })
    return `${path}?${query.toString()}`
  }
  const isEmpty = servers.length === 0
  if (isEmpty && text === '' && page === 1) return whenNone
  return html`<form class="search" method="get" action="${path}" role="search">
<label for="q">Search</label>
<input id="q" name="q" type="search" value="${text}" placeholder="Name, address or slug">
<button class="secondary">Search</button>
${text === '' ? '' : html`<a href="${path}">All</a>`}
</form>
${isEmpty ? html`<p class="empty">Nothing found${text === '' ? '' : html` for ${shown(text)}`}. <a href="${path}">All servers</a></p>` : showServerRows(servers, userId)}
${
  pages > 1
    ? html`<nav class="row pages" aria-label="Pages">
${page > 1 ? html`<a href="${link(page - 1)}" rel="prev">Newer</a>` : html`<span></span>`}
<span>Page ${page} of ${pages}</span>
${page < pages ? html`<a href="${link(page + 1)}" rel="next">Older</a>` : html`<span></span>`}
</nav>`
    : ''
}`
}
