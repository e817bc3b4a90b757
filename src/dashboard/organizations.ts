import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
  type Member,
  type Membership,
} from '../listing/organization.ts'
import type { ServerPage } from '../listing/registered-server.ts'
import { showField } from './form-field.ts'
import { type Html, notice, shown, showNotFound, showPage, visible } from './page.ts'
import { readSearch, showSearched } from './servers.ts'
import { type App, type Dashboard, fieldOf, type Visit } from './visit.ts'

const DONE = new Map([
  ['made', 'The organization is made.'],
  ['added', 'The member is added.'],
  ['removed', 'The member is removed.'],
])

/** Organizations: those the user is a member of, and each with its servers and members. */
export function addOrganizationRoutes(app: App, dashboard: Dashboard): void {
  const { store } = dashboard

  app.get('/dashboard/organizations', async (visit) =>
    showAll(visit, await store.listOrganizations(visit.get('session').userId), {
      name: visit.req.query('name') ?? '',
      slug: visit.req.query('slug') ?? '',
    }),
  )

  app.post('/dashboard/organizations', async (visit) => {
    const { userId } = visit.get('session')
    const [name, slug] = [fieldOf(visit, 'name'), fieldOf(visit, 'slug').trim()]
    const checked = checkOrganizationName(name)
    const slugError = complaintAboutOrganizationSlug(slug)
    const errors: Record<string, string> = {
      ...('complaint' in checked ? { name: checked.complaint } : {}),
      ...(slugError === null ? {} : { slug: slugError }),
    }
    if ('name' in checked && slugError === null) {
      const organization = { id: randomUUID(), slug, name: checked.name }
      if (await store.insertOrganization(userId, organization))
        return visit.redirect(`/dashboard/organizations/${organization.id}?done=made`, 303)
      errors.slug = 'There is an organization with this slug. Take another one.'
    }
    return showAll(visit, await store.listOrganizations(userId), { name, slug }, errors)
  })

  app.get('/dashboard/organizations/:id', (visit) => showOrganization(dashboard, visit, {}))

  app.post('/dashboard/organizations/:id/remove', async (visit) => {
    const { userId } = visit.get('session')
    const removed = await store.removeOrganization(userId, visit.req.param('id'))
    return removed ? visit.redirect('/dashboard/organizations', 303) : showNotFound(visit)
  })
}

function showAll(
  visit: Visit,
  organizations: readonly Membership[],
  { name, slug }: { name: string; slug: string },
  errors: Record<string, string> = {},
): Promise<Response> {
  return showPage(visit, {
    title: 'Organizations',
    status: Object.keys(errors).length > 0 ? 422 : 200,
    body: html`<p>Servers under an organization are listed with it, and never returned by the API.</p>
${organizations.length === 0 ? html`<p class="empty">No organizations yet. Make one to keep the servers of a group apart from your own.</p>` : html`<ul class="cards">${organizations.map((one) => html`<li class="card row"><h2><a href="/dashboard/organizations/${one.id}">${shown(one.name)}</a></h2><span>${one.servers} ${one.servers === 1 ? 'server' : 'servers'}</span><span class="state">${one.role}</span></li>`)}</ul>`}
<form class="card" method="post" action="/dashboard/organizations">
<h2>Make an organization</h2>
${showField({
  name: 'name',
  label: 'Name',
  value: name,
  required: true,
  lengthMax: 100,
  error: errors.name,
})}
${showField({
  name: 'slug',
  label: 'Slug',
  value: slug,
  required: true,
  suggestedFrom: 'name',
  hint: 'Lower-case letters, digits and single hyphens, such as red-stone.',
  error: errors.slug,
})}
<button>Make it</button>
</form>`,
  })
}

/** One organization, as a member sees it; for others it is not there. */
export async function showOrganization(
  { store }: Dashboard,
  visit: Visit,
  { email, emailError }: { email?: string; emailError?: string },
): Promise<Response> {
  const { userId } = visit.get('session')
  const organizations = await store.listOrganizations(userId)
  const organization = organizations.find(({ id }) => id === visit.req.param('id'))
  if (organization === undefined) return showNotFound(visit)
  const { id, name, role } = organization
  const asked = readSearch(visit)
  const servers = await store.searchOrganizationServers(userId, id, asked)
  const members = await store.listMembers(userId, id)
  const owners = members.filter((member) => member.role === 'owner').length
  const done = DONE.get(visit.req.query('done') ?? '')
  return showPage(visit, {
    title: visible(name),
    status: emailError === undefined ? 200 : 422,
    body: html`${done === undefined ? '' : notice('good', done)}
<section><h2>Servers</h2>
<p>The API never returns these.</p>
${showServers(id, asked, servers, userId)}</section>
<section><h2>Members</h2>
<ul class="cards">${members.map((member) => showMember(id, role, member, userId, owners))}</ul></section>
${role === 'owner' ? showOwnersForms(id, email ?? visit.req.query('email') ?? '', emailError, servers.total === 0 && asked.text === '') : ''}`,
  })
}

function showServers(
  id: string,
  asked: { text: string; page: number },
  servers: ServerPage,
  userId: string,
): Html {
  const none = html`<p class="empty">No servers under this organization. Open one of <a href="/dashboard/servers">your servers</a> to move it here, or <a href="/dashboard/servers/new?organization_id=${id}">register one</a>.</p>`
  return showSearched(`/dashboard/organizations/${id}`, asked, servers, none, userId)
}

function showMember(
  id: string,
  role: string,
  member: Member,
  userId: string,
  owners: number,
): Html {
  const isSelf = member.user_id === userId
  const isLastOwner = member.role === 'owner' && owners === 1
  const canEnd = (role === 'owner' || isSelf) && !isLastOwner
  const word = isSelf ? 'Leave' : 'Remove'
  const action = `/dashboard/organizations/${id}/members/${member.user_id}/remove`
  return html`<li class="card row">${shown(member.email)}<span class="state">${member.role}</span>
${canEnd ? html`<form class="end" method="post" action="${action}"><button class="quiet" aria-label="${word}: ${member.email}">${word}</button></form>` : ''}</li>`
}

function showOwnersForms(
  id: string,
  email: string,
  error: string | undefined,
  isEmpty: boolean,
): Html {
  return html`<form class="card" method="post" action="/dashboard/organizations/${id}/members">
<h2>Add a member</h2>
${showField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  value: email,
  required: true,
  hint: 'Of somebody who has an account here. Members see the servers, and can put their own here.',
  error,
})}
<button>Add</button>
</form>
${isEmpty ? html`<form class="card" method="post" action="/dashboard/organizations/${id}/remove"><h2>Delete this organization</h2><p>It has no servers, so it can be deleted. This cannot be undone.</p><button class="danger">Delete the organization</button></form>` : ''}`
}
