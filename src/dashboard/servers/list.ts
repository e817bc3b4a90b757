import { html } from 'hono/html'
import { type InvitationStore, oldestInvitation } from '../../listing/invitation.ts'
import type { OrganizationStore } from '../../listing/organization.ts'
import type { CheckedImportStore } from '../../listing/servers/checked-import.ts'
import type { RegisteredServerStore } from '../../listing/servers/registered-server.ts'
import { SERVERS_MAX } from '../../listing/servers/server.ts'
import type { ServerChangeStore } from '../../listing/servers/server-changes.ts'
import { countAll, type ServerSearchStore } from '../../listing/servers/server-search.ts'
import { countOf } from '../../listing/text.ts'
import type { App, Dashboard } from '../context.ts'
import { showInvitationNote } from '../html/invitation-note.ts'
import { showPage } from '../html/page.ts'
import { showAction, showEmpty } from '../html/parts.ts'
import type { Html } from '../html/text.ts'
import { takeNotice } from './notices.ts'
import { showFirstOfPreview } from './preview.ts'
import { readSearch, readSelectedPage } from './search.ts'
import { showServers } from './table.ts'

const PATH = '/dashboard/servers'

/** Lists the user's personal servers. */
export function addServerRoutes(
  app: App,
  dashboard: Dashboard<
    RegisteredServerStore &
      ServerSearchStore &
      ServerChangeStore &
      CheckedImportStore &
      OrganizationStore &
      InvitationStore
  >,
): void {
  const { store, siteUrl } = dashboard

  app.get('/dashboard/servers', async (c) => {
    const { userId } = c.get('session')
    const now = dashboard.now()
    const search = readSearch(c)
    const found = await store.searchServers(userId, search)
    const organizations = await store.listOrganizations(userId)
    const invitations = await store.listInvitations(userId, oldestInvitation(now))
    const preview = await showFirstOfPreview(store, userId, found.servers.length)
    const notice = await takeNotice(dashboard, c)
    const under = organizations.reduce((sum, { servers }) => sum + servers, 0)
    const whenNone = showEmpty(NO_SERVERS)
    const isSelected = readSelectedPage(c) !== undefined
    const table = {
      path: PATH,
      search,
      found,
      isPersonal: true,
      isSelected,
      userId,
      now,
      siteUrl,
      whenNone,
    }
    return showPage(c, {
      title: 'Servers',
      lead: `Your personal listing. The API returns the ${SERVERS_MAX} most recently changed, drafts included.`,
      ...(countAll(found.counts) === 0 ? {} : { actions: ACTIONS }),
      notice,
      body: html`${showInvitationNote(invitations)}
<section>
${showServers(table)}
${countAll(found.counts) > 0 ? EXPORT : ''}
${under > 0 ? sayUnder(under) : ''}
</section>
${preview}`,
    })
  })
}

function sayUnder(servers: number): Html {
  return html`<p class="hint">You also have ${countOf(servers, 'server')} in <a href="/dashboard/organizations">organizations</a>, which the API does not return.</p>`
}

const EXPORT = html`<p class="hint">Export all servers as <a href="/dashboard/servers/export.csv">CSV</a> or <a href="/dashboard/servers/export.json">JSON</a>.</p>`

const IMPORT = { href: '/dashboard/servers/import', label: 'Import', icon: 'import' } as const

const REGISTER = {
  href: '/dashboard/servers/new',
  label: 'Register a server',
  icon: 'plus',
  isMain: true,
} as const

const ACTIONS = html`${showAction(IMPORT)}${showAction(REGISTER)}`

const NO_SERVERS = {
  icon: 'server',
  title: 'No servers yet',
  text: html`Register your first one, or <a href="/dashboard/servers/import">import</a> several. The API returns them at once.`,
  action: REGISTER,
} as const
