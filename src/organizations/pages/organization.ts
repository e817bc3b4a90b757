import { html } from 'hono/html'
import type { Membership } from '../organization.ts'
import type { Context, Dashboard, Site } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { type Action, showAction, showEmpty, showFilter } from '../../web/html/parts.ts'
import { manageAt, showSite } from '../../web/html/site.ts'
import { type Html, isolatedText } from '../../web/html/text.ts'
import { takeNotice } from '../../servers/pages/notices.ts'
import { isPageSelected, readSearch } from '../../servers/pages/list/query.ts'
import { showServers } from '../../servers/pages/list/table.ts'
import { takeDone } from '../../web/request/next-notice.ts'
import { ORGANIZATION_DONE } from './notices.ts'
import { serverSearch } from '../../servers/records/server-search.ts'
import type { Database } from '../../database/database.ts'
import { namesOfMembers } from '../records/members.ts'
import { organizations } from '../records/organizations.ts'

/** Shows an organization's servers to its members. Other users get a 404. */
export async function showOrganization(dashboard: Dashboard, c: Context): Promise<Response> {
  const { database, site } = dashboard
  const { userId } = c.get('session')
  const organization = await findMembership(database, c)
  if (organization === null) return showNotFound(c)
  const { id, name, role } = organization
  const isOwner = role === 'owner'
  const path = `/dashboard/organizations/${id}`
  const search = readSearch(c)
  const found = await serverSearch(database).searchOrganizationServers(userId, id, search)
  const { managesServers } = site
  const notice = takeDone(dashboard, c, ORGANIZATION_DONE) ?? (await takeNotice(dashboard, c))
  const whenNone = showEmpty({
    icon: 'server',
    title: 'This organization has no servers',
    text: managesServers
      ? html`Move servers to it at ${showSite(site)}.`
      : html`Register one here, or edit one of <a href="/dashboard/servers">your servers</a> to move it here.`,
  })
  const now = dashboard.now()
  const isSelected = isPageSelected(c)
  const shown = { path, search, found, isPersonal: false, isSelected }
  const members = await namesOfMembers(database, userId, id)
  const table = {
    ...shown,
    userId,
    now,
    siteUrl: null,
    isReadOnly: managesServers,
    members,
    canMove: true,
    whenNone,
  }
  return showPage(c, {
    title: isolatedText(name),
    lead: 'The API never returns these servers.',
    actions: showAction(managesServers ? manageAt(site) : registerIn(id)),
    notice,
    body: html`${showTabs(id, 'servers')}
<section><h2 class="unseen">Servers</h2>
${showServers(table)}</section>
${isOwner ? showRemoval(organization, site) : ''}`,
  })
}

/** The user's membership in the organization of the page's address. */
export async function findMembership(database: Database, c: Context): Promise<Membership | null> {
  const joined = await organizations(database).listOrganizations(c.get('session').userId)
  return joined.find(({ id }) => id === c.req.param('id')) ?? null
}

/** Links between the two pages of an organization. */
export function showTabs(id: string, current: 'servers' | 'members'): Html {
  const href = `/dashboard/organizations/${id}`
  return html`<div class="tools">${showFilter('Organization', [
    { href, label: SERVERS, isCurrent: current === 'servers' },
    { href: `${href}/members`, label: 'Members', isCurrent: current === 'members' },
  ])}</div>`
}

/** Tells the link from the one to the user's own servers. */
const SERVERS = html`Servers<span class="unseen"> of this organization</span>`

function registerIn(id: string): Action {
  const href = `/dashboard/servers/new?organization_id=${id}`
  return { href, label: 'Register a server', icon: 'plus', isMain: true }
}

function showRemoval({ id, servers }: Membership, site: Site): Html | '' {
  if (servers > 0 && !site.managesServers) return ''
  if (servers > 0)
    return html`<p class="hint">To delete this organization, first move or delete its servers at ${showSite(site)}.</p>`
  return html`<section class="card"><h2>Delete this organization</h2><p>You can delete it because it has no servers.</p><p><a class="button" href="/dashboard/organizations/${id}/remove">Delete organization…</a></p></section>`
}
