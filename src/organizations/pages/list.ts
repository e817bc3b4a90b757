import { html } from 'hono/html'
import { type Html, isolated } from '../../web/html/text.ts'
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
import { takeDone, tellNext } from '../../web/request/next-notice.ts'
import { ORGANIZATION_DONE, ORGANIZATION_GONE, showGone } from './notices.ts'
import { findMembership, showOrganization } from './organization.ts'
import { showQuestion } from '../../web/html/question.ts'
import { members } from '../records/members.ts'
import { organizations } from '../records/organizations.ts'

/** Lists the user's organizations, creates and deletes them. */
export function addOrganizationRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.get('/dashboard/organizations', (c) =>
    showOrganizations(dashboard, c, { notice: takeDone(dashboard, c, ORGANIZATION_DONE) }),
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
      tellNext(dashboard, c, 'organization-created')
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
  { database, site }: Dashboard,
  c: Context,
  { id, name }: Membership,
): Promise<Response> {
  const { userId } = c.get('session')
  const others = (await members(database).listMembers(userId, id)).length - 1
  return showQuestion(c, {
    title: 'Delete an organization',
    asks: html`Delete ${isolated(name)}?`,
    consequences: [
      others > 0 && `${countOf(others, 'other member')} can no longer open it.`,
      html`It has no servers. The API returns the same as before${site.managesServers ? html`, and nothing changes at ${showSite(site)}` : ''}. You can’t undo this.`,
    ],
    button: 'Delete organization',
    back: `${LIST_PATH}/${id}`,
  })
}

export const LIST_PATH = '/dashboard/organizations'
const NOT_DELETED = `${ORGANIZATION_GONE} An organization with servers can’t be deleted either.`
const TOO_MANY = `You have reached the limit of ${ORGANIZATIONS_MAX} organizations. Leave or delete one first.`

interface OrganizationsPage {
  name?: string
  slug?: string
  errors?: Record<string, string>
  notice?: Notice | undefined
}

/** Shows the page of all organizations. */
async function showOrganizations(
  { database }: Dashboard,
  c: Context,
  { name = '', slug = '', errors = {}, notice }: OrganizationsPage,
): Promise<Response> {
  const { userId } = c.get('session')
  const joined = await organizations(database).listOrganizations(userId)
  return showPage(c, {
    title: 'Organizations',
    lead: 'The API never returns the servers of an organization. Its members see them, and each other’s email addresses.',
    actions: showAction({ href: '#name', label: 'New organization', icon: 'plus', isMain: true }),
    errors,
    status: Object.keys(errors).length > 0 ? 422 : 200,
    notice,
    body: html`${joined.length === 0 ? showEmpty(NO_ORGANIZATIONS) : html`<ul class="rows">${joined.map(showRow)}</ul>`}
<section class="split"><h2>Create an organization</h2>
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
  return html`<li><div><a href="/dashboard/organizations/${id}">${isolated(name)}</a> ${pill(role)}</div><span class="hint">${countOf(servers, 'server')}</span>
`
}
