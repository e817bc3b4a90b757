import { html } from 'hono/html'
import { SERVERS_MAX } from '../../../model/server-row.ts'
import { countAll } from '../../server-search.ts'
import { countOf } from '../../../model/text.ts'
import type { App, Dashboard, Site } from '../../../web/context.ts'
import { showPage } from '../../../web/html/page.ts'
import { manageAt, showSite } from '../../../web/html/site.ts'
import { showAction, showEmpty } from '../../../web/html/parts.ts'
import type { Html } from '../../../web/html/text.ts'
import { takeNotice } from '../notices.ts'
import { isPageSelected, readSearch } from './query.ts'
import { showServers } from './table.ts'
import { serverSearch } from '../../records/server-search.ts'
import { organizations } from '../../../organizations/records/organizations.ts'

const PATH = '/dashboard/servers'

/** Lists the user's personal servers. */
export function addServerRoutes(app: App, dashboard: Dashboard): void {
  const { database, site, siteUrl } = dashboard

  app.get('/dashboard/servers', async (c) => {
    const { userId } = c.get('session')
    const now = dashboard.now()
    const search = readSearch(c)
    const found = await serverSearch(database).searchServers(userId, search)
    const joined = await organizations(database).listOrganizations(userId)
    const notice = await takeNotice(dashboard, c)
    const under = joined.reduce((sum, { servers }) => sum + servers, 0)
    const whenNone = showEmpty(site.managesServers ? noServersAt(site) : NO_SERVERS)
    const isSelected = isPageSelected(c)
    const shown = { path: PATH, search, found, isPersonal: true, isSelected }
    const table = {
      ...shown,
      userId,
      now,
      siteUrl,
      isReadOnly: site.managesServers,
      canMove: joined.length > 0,
      whenNone,
    }
    return showPage(c, {
      title: 'Servers',
      lead: `Your personal listing. The API returns the ${SERVERS_MAX} most recently changed, drafts included.`,
      ...(countAll(found.counts) === 0
        ? {}
        : { actions: site.managesServers ? showAction(manageAt(site)) : ACTIONS }),
      notice,
      body: html`<section>
${showServers(table)}
${countAll(found.counts) > 0 ? FILES : ''}
${under > 0 ? sayUnder(under) : ''}
</section>`,
    })
  })
}

function sayUnder(servers: number): Html {
  return html`<p class="hint">You also have ${countOf(servers, 'server')} in <a href="/dashboard/organizations">organizations</a>, which the API does not return.</p>`
}

const FILES = html`<p class="hint">Export all servers as <a href="/dashboard/servers/export.csv">CSV</a> or <a href="/dashboard/servers/export.json">JSON</a>. See <a href="/dashboard/servers/preview.json">what the API returns right now</a>.</p>`

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

function noServersAt(site: Site) {
  const text = html`Add one at ${showSite(site)}. The API returns it at once.`
  return { icon: 'server', title: 'No servers yet', text, action: manageAt(site) } as const
}
