import { html } from 'hono/html'
import { type Invitation, oldestInvitation } from '../invitation.ts'
import { type Html, isolated, titled, truncated } from '../../web/html/text.ts'
import { idFromFormTag } from '../../web/request/form-id.ts'
import {
  checkOrganizationName,
  complaintAboutOrganizationSlug,
  type Membership,
  ORGANIZATION_NAME_LENGTH_MAX,
  ORGANIZATIONS_MAX,
} from '../organization.ts'
import { countOf } from '../../model/text.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../web/context.ts'
import { showField, showFormTag, submittedTag } from '../../web/html/form-field.ts'
import { type Notice, showPage } from '../../web/html/page.ts'
import { pill, showAction, showEmpty } from '../../web/html/parts.ts'
import { showSite } from '../../web/html/site.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { ORGANIZATION_GONE, showGone, takeListNotice } from './notices.ts'
import { findMembership, showOrganization } from './organization.ts'
import { showQuestion } from './question.ts'
import { organizations } from '../records/organizations.ts'
import { invitations } from '../records/invitations.ts'

/** Lists the user's organizations and invitations, and creates organizations. */
export function addOrganizationRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.get('/dashboard/organizations', (c) =>
    showOrganizations(dashboard, c, {
      name: c.req.query('name') ?? '',
      slug: c.req.query('slug') ?? '',
      notice: takeListNotice(dashboard, c),
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

    // The same form with other values is another organization.
    const tag = fieldOf(c, 'form')
    const id = idFromFormTag(userId, tag && [tag, slug, checked.name].join('\n'))
    const made = await organizations(database).insertOrganization(
      userId,
      { id, slug, name: checked.name },
      actorOf(dashboard, c),
    )
    const own = made === 'made' ? [] : await organizations(database).listOrganizations(userId)
    if (made === 'made' || own.some((one) => one.id === id)) {
      tellNext(dashboard, c, 'created')
      return c.redirect(`/dashboard/organizations/${id}`, 303)
    }
    if (made === 'slug taken')
      errors.slug = 'Another organization has this slug. Choose a different one.'
    else errors.name = TOO_MANY
    return showOrganizations(dashboard, c, { name, slug, errors })
  })

  app.get('/dashboard/organizations/:id', (c) => showOrganization(dashboard, c))

  app.get('/dashboard/organizations/:id/remove', async (c) => {
    const organization = await findMembership(database, c)
    if (organization?.role !== 'owner' || organization.servers > 0) return showGone(c, NOT_DELETED)
    return askToRemove(dashboard, c, organization)
  })

  app.post('/dashboard/organizations/:id/remove', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await organizations(database).removeOrganization(userId, id, actorOf(dashboard, c))))
      return showGone(c, NOT_DELETED)
    tellNext(dashboard, c, 'organization-deleted')
    return c.redirect('/dashboard/organizations', 303)
  })
}

async function askToRemove(
  { database, now, site }: Dashboard,
  c: Context,
  { id, name }: Membership,
): Promise<Response> {
  const { userId } = c.get('session')
  const others = (await organizations(database).listMembers(userId, id)).length - 1
  const invited = await invitations(database).listInvited(userId, id, oldestInvitation(now()))
  return showQuestion(c, {
    title: 'Delete an organization',
    asks: html`Delete ${isolated(name)}?`,
    consequences: [
      others > 0 && `${countOf(others, 'other member')} can no longer open it.`,
      invited.length > 0 && `${countOf(invited.length, 'open invitation')} will end.`,
      html`It has no servers. The API returns the same as before${site.managesServers ? html`, and nothing changes at ${showSite(site)}` : ''}. You can’t undo this.`,
    ],
    button: 'Delete organization',
    back: `${LIST_PATH}/${id}`,
  })
}

export const LIST_PATH = '/dashboard/organizations'
const NOT_DELETED = `${ORGANIZATION_GONE} An organization with servers can’t be deleted either.`
export const TOO_MANY = `You have reached the limit of ${ORGANIZATIONS_MAX} organizations. Leave or delete one first.`

export interface OrganizationsPage {
  name?: string
  slug?: string
  errors?: Record<string, string>
  notice?: Notice | undefined
  status?: 409
}

/** Shows the page of all organizations. */
export async function showOrganizations(
  { database, now }: Dashboard,
  c: Context,
  { name = '', slug = '', errors = {}, notice, status }: OrganizationsPage,
): Promise<Response> {
  const { userId } = c.get('session')
  const joined = await organizations(database).listOrganizations(userId)
  const invited = await invitations(database).listInvitations(userId, oldestInvitation(now()))
  return showPage(c, {
    title: 'Organizations',
    lead: 'The members of an organization see its servers. The API never returns them.',
    actions: showAction({ href: '#name', label: 'New organization', icon: 'plus', isMain: true }),
    errors,
    status: status ?? (Object.keys(errors).length > 0 ? 422 : 200),
    notice,
    body: html`${invited.length > 0 ? showInvitations(invited) : ''}
${joined.length === 0 ? showEmpty(NO_ORGANIZATIONS) : html`<ul class="rows">${joined.map(showRow)}</ul>`}
<section class="split"><div><h2>Create an organization</h2>
<p class="hint">Members see each other’s email addresses.</p></div>
<form class="card" method="post" action="/dashboard/organizations">
${showFormTag(submittedTag(c))}
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
  isCode: true,
  hint: 'Lowercase letters, digits and single hyphens, such as red-stone.',
  error: errors.slug,
})}
<button class="primary">Create organization</button>
</form></section>`,
  })
}

const NO_ORGANIZATIONS = {
  icon: 'people',
  title: 'No organizations yet',
  text: 'Create one to collect the servers of a group.',
  action: { href: '#name', label: 'Create an organization' },
} as const

function showRow({ id, name, servers, role }: Membership): Html {
  return html`<li><div><a href="/dashboard/organizations/${id}">${titled(name)}</a> ${pill(role)}</div><span class="hint">${countOf(servers, 'server')}</span>
`
}

/** Shows the user's invitations, and what accepting one reveals. */
function showInvitations(invitations: readonly Invitation[]): Html {
  return html`<section><h2>You are invited</h2><p class="hint">${CONSEQUENCE}</p>
<ul class="rows">${invitations.map(showInvitation)}</ul></section>`
}

const CONSEQUENCE = `Members see each other’s email addresses and the organization’s servers. Only you can move your servers there.`

function showInvitation(
  { organization_id: id, name, invited_by }: Invitation,
  index: number,
): Html {
  const path = `/dashboard/organizations/${id}`
  return html`<li><div><strong id="o${index}">${titled(name)}</strong> <span class="hint">by ${truncated(invited_by)}</span></div>
<form class="row" method="post" action="${path}/accept"><button class="primary" id="a${index}" aria-labelledby="a${index} o${index}">Accept</button>
<a class="button" href="${path}/decline" id="d${index}" aria-labelledby="d${index} o${index}">Decline…</a></form>
`
}
