import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import { INVITATION_KEPT } from '../listing/invitation.ts'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
  type Membership,
  ORGANIZATIONS_MAX,
} from '../listing/organization.ts'
import { showField } from './form-field.ts'
import { showInvitations } from './invitations.ts'
import { showOrganization } from './organization.ts'
import { type Html, NAME_BYTES, notice, showNotFound, shownShort, showPage } from './page.ts'
import { type App, type Dashboard, fieldOf, type Visit } from './visit.ts'

/** Organizations: those the user is a member of, those that invite the user, and the making of one. */
export function addOrganizationRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard

  app.get('/dashboard/organizations', (visit) =>
    showOrganizations(dashboard, visit, {
      name: visit.req.query('name') ?? '',
      slug: visit.req.query('slug') ?? '',
      ...(visit.req.query('done') === 'declined'
        ? { message: notice('good', 'The invitation is declined.') }
        : {}),
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
    if ('complaint' in checked || slugError !== null)
      return showOrganizations(dashboard, visit, { name, slug, errors })

    const organization = { id: randomUUID(), slug, name: checked.name }
    const made = await store.insertOrganization(userId, organization, now())
    if (made === 'made')
      return visit.redirect(`/dashboard/organizations/${organization.id}?done=made`, 303)
    if (made === 'slug taken')
      errors.slug = 'There is an organization with this slug. Take another one.'
    else errors.name = TOO_MANY
    return showOrganizations(dashboard, visit, { name, slug, errors })
  })

  app.get('/dashboard/organizations/:id', (visit) => showOrganization(dashboard, visit, {}))

  app.post('/dashboard/organizations/:id/remove', async (visit) => {
    const { userId } = visit.get('session')
    const removed = await store.removeOrganization(userId, visit.req.param('id'))
    return removed ? visit.redirect('/dashboard/organizations', 303) : showNotFound(visit)
  })
}

export const TOO_MANY = `You are a member of ${ORGANIZATIONS_MAX} organizations, which is the most. Leave or delete one first.`

export interface OrganizationsPage {
  name?: string
  slug?: string
  errors?: Record<string, string>
  message?: Html
  status?: 409
}

/** The page of all. */
export async function showOrganizations(
  { store, now }: Dashboard,
  visit: Visit,
  { name = '', slug = '', errors = {}, message, status }: OrganizationsPage,
): Promise<Response> {
  const { userId } = visit.get('session')
  const organizations = await store.listOrganizations(userId)
  const invitations = await store.listInvitations(userId, now() - INVITATION_KEPT)
  return showPage(visit, {
    title: 'Organizations',
    status: status ?? (Object.keys(errors).length > 0 ? 422 : 200),
    body: html`${message ?? ''}
${invitations.length > 0 ? showInvitations(invitations) : ''}
<p>Servers under an organization are listed with it, and never returned by the API.</p>
${organizations.length === 0 ? html`<p class="empty">No organizations yet. Make one to keep the servers of a group apart from your own.</p>` : html`<ul class="rows">${organizations.map(showRow)}</ul>`}
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

function showRow({ id, name, servers, role }: Membership): Html {
  return html`<li><div><a href="/dashboard/organizations/${id}">${shownShort(name, NAME_BYTES)}</a> <span class="state">${role}</span></div><span class="hint">${servers} ${servers === 1 ? 'server' : 'servers'}</span>
`
}
