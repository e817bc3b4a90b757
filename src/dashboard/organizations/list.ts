import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import type { AuditStore } from '../../listing/accounts/audit.ts'
import { type InvitationStore, oldestInvitation } from '../../listing/invitation.ts'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
  type Membership,
  ORGANIZATION_NAME_LENGTH_MAX,
  ORGANIZATIONS_MAX,
  type OrganizationStore,
} from '../../listing/organization.ts'
import { type App, type Context, type Dashboard, fieldOf } from '../context.ts'
import { showField } from '../html/form-field.ts'
import { notice, showNotFound, showPage } from '../html/page.ts'
import { pill, showAction, showEmpty } from '../html/parts.ts'
import { type Html, NAME_BYTES, truncated } from '../html/text.ts'
import { audit } from '../request/audit.ts'
import { showInvitations } from './invitations.ts'
import { type OrganizationServers, showOrganization } from './organization.ts'

/** Lists the user's organizations and invitations, and creates organizations. */
export function addOrganizationRoutes(
  app: App,
  dashboard: Dashboard<OrganizationServers & InvitationStore & AuditStore>,
): void {
  const { store, now } = dashboard

  app.get('/dashboard/organizations', (c) =>
    showOrganizations(dashboard, c, {
      name: c.req.query('name') ?? '',
      slug: c.req.query('slug') ?? '',
      ...(c.req.query('done') === 'declined'
        ? { message: notice('good', 'You declined the invitation.') }
        : {}),
    }),
  )

  app.post('/dashboard/organizations', async (c) => {
    const { userId } = c.get('session')
    const [name, slug] = [fieldOf(c, 'name'), fieldOf(c, 'slug').trim()]
    const checked = checkOrganizationName(name)
    const slugError = complaintAboutOrganizationSlug(slug)
    const errors: Record<string, string> = {
      ...('complaint' in checked ? { name: checked.complaint } : {}),
      ...(slugError === null ? {} : { slug: slugError }),
    }
    if ('complaint' in checked || slugError !== null)
      return showOrganizations(dashboard, c, { name, slug, errors })

    const organization = { id: randomUUID(), slug, name: checked.name }
    const made = await store.insertOrganization(userId, organization, now())
    if (made === 'made') {
      await audit(dashboard, c, 'organization made', userId, organization.id)
      return c.redirect(`/dashboard/organizations/${organization.id}?done=made`, 303)
    }
    if (made === 'slug taken')
      errors.slug = 'Another organization has this slug. Choose a different one.'
    else errors.name = TOO_MANY
    return showOrganizations(dashboard, c, { name, slug, errors })
  })

  app.get('/dashboard/organizations/:id', (c) => showOrganization(dashboard, c))

  app.post('/dashboard/organizations/:id/remove', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await store.removeOrganization(userId, id))) return showNotFound(c)
    await audit(dashboard, c, 'organization deleted', userId, id)
    return c.redirect('/dashboard/organizations', 303)
  })
}

export const TOO_MANY = `You have reached the limit of ${ORGANIZATIONS_MAX} organizations. Leave or delete one first.`

export interface OrganizationsPage {
  name?: string
  slug?: string
  errors?: Record<string, string>
  message?: Html
  status?: 409
}

/** Shows the page of all organizations. */
export async function showOrganizations(
  { store, now }: Dashboard<OrganizationStore & InvitationStore>,
  c: Context,
  { name = '', slug = '', errors = {}, message, status }: OrganizationsPage,
): Promise<Response> {
  const { userId } = c.get('session')
  const organizations = await store.listOrganizations(userId)
  const invitations = await store.listInvitations(userId, oldestInvitation(now()))
  return showPage(c, {
    title: 'Organizations',
    lead: 'The members of an organization see its servers. The API never returns them.',
    actions: showAction({ href: '#name', label: 'New organization', icon: 'plus', isMain: true }),
    errors,
    status: status ?? (Object.keys(errors).length > 0 ? 422 : 200),
    body: html`${message ?? ''}
${invitations.length > 0 ? showInvitations(invitations) : ''}
${organizations.length === 0 ? showEmpty(NO_ORGANIZATIONS) : html`<ul class="rows">${organizations.map(showRow)}</ul>`}
<section class="split"><div><h2>Create an organization</h2>
<p class="hint">Members see each other’s email addresses.</p></div>
<form class="card" method="post" action="/dashboard/organizations">
${showField({
  name: 'name',
  label: 'Name',
  value: name,
  required: true,
  lengthMax: ORGANIZATION_NAME_LENGTH_MAX,
  error: errors.name,
})}
${showField({
  name: 'slug',
  label: 'Slug',
  value: slug,
  required: true,
  suggestedFrom: 'name',
  hint: 'Lowercase letters, digits and single hyphens, such as red-stone.',
  error: errors.slug,
})}
<button class="primary">Create</button>
</form></section>`,
  })
}

const NO_ORGANIZATIONS = {
  icon: 'people',
  title: 'No organizations yet',
  text: 'Create one to keep a group’s servers apart from your own.',
  action: { href: '#name', label: 'Create an organization' },
} as const

function showRow({ id, name, servers, role }: Membership): Html {
  return html`<li><div><a href="/dashboard/organizations/${id}">${truncated(name, NAME_BYTES)}</a> ${pill(role)}</div><span class="hint">${servers} ${servers === 1 ? 'server' : 'servers'}</span>
`
}
