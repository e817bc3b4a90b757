import {
  REGISTERED_MAX,
  type RegisteredServer,
  type ServerFields,
  type Written,
} from '../listing/registered-server.ts'
import { suggestSlug } from '../listing/server-entry.ts'
import { idFromFormTag } from './form-field.ts'
import { notice, showNotFound } from './page.ts'
import { showSeenServer } from './seen-server.ts'
import { KEPT_FIELDS, readFields, showServerForm } from './server-form.ts'
import { placeOf } from './servers.ts'
import { type App, type Dashboard, fieldOf, type Visit } from './visit.ts'

/** How many numbers are tried behind a suggested slug that is taken. */
const SUGGESTIONS_MAX = 20

/** Registering a server, and editing one. */
export function addRegisterRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard
  const organizationsOf = (visit: Visit) => store.listOrganizations(visit.get('session').userId)

  app.get('/dashboard/servers/new', async (visit) =>
    showServerForm(visit, {
      id: null,
      values: { edition: 'java', status: 'published', ...typedBefore(visit) },
      organizations: await organizationsOf(visit),
    }),
  )

  app.post('/dashboard/servers/new', async (visit) => {
    const { userId } = visit.get('session')
    const { fields, values, complaints } = readFields(visit)
    const organizations = await organizationsOf(visit)
    const form = { id: null, values, organizations }
    if (fields === null) return showServerForm(visit, { ...form, errors: complaints })

    const id = idFromFormTag(userId, fieldOf(visit, 'form'))
    const registered = `${placeOf(fields)}?done=registered`
    const written = await writeWithSlug(fields.slug, fields.name, (slug) =>
      store.insertServer(userId, id, { ...fields, slug }, now()),
    )
    if (written === 'written') return visit.redirect(registered, 303)
    if (written === 'too many') return showServerForm(visit, { ...form, message: TOO_MANY })
    if (written !== 'known')
      return showServerForm(visit, { ...form, errors: complaintFor(written) })
    if (isSame(fields, await store.findServer(userId, id))) return visit.redirect(registered, 303)
    return showServerForm(visit, { ...form, message: SENT_BEFORE, isSpent: true })
  })

  app.get('/dashboard/servers/:id', async (visit) => {
    const { userId } = visit.get('session')
    const server = await store.findSeenServer(userId, visit.req.param('id'))
    if (server === null) return showNotFound(visit)
    if (server.created_by !== userId) return showSeenServer(visit, server)
    const { id, ...fields } = server
    const values = { ...withoutNulls(fields), ...typedBefore(visit) }
    return showServerForm(visit, { id, values, organizations: await organizationsOf(visit) })
  })

  app.post('/dashboard/servers/:id', async (visit) => {
    const { userId } = visit.get('session')
    const server = await store.findServer(userId, visit.req.param('id'))
    if (server === null) return showNotFound(visit)
    const { id } = server
    const { fields, values, complaints } = readFields(visit)
    let errors = complaints
    if (fields !== null) {
      const written = await store.updateServer(userId, id, fields, now())
      if (written === 'written') return visit.redirect(`${placeOf(fields)}?done=changed`, 303)
      errors = complaintFor(written)
    }
    return showServerForm(visit, {
      id,
      values,
      errors,
      organizations: await organizationsOf(visit),
    })
  })
}

const TOO_MANY = notice(
  'bad',
  `The server is not registered: you have ${REGISTERED_MAX}, which is the most. Delete one that is gone.`,
)
const SENT_BEFORE = notice(
  'note',
  `This form has registered a server already, with other content. What is typed below is not registered yet: send it again to register this one as well.`,
)

/** Whether the form asks for what is there. A slug that it left open was made from the name. */
function isSame(fields: ServerFields, found: RegisteredServer | null): boolean {
  if (found === null) return false
  const names = Object.keys(fields) as (keyof ServerFields)[]
  return names.every(
    (name) => found[name] === fields[name] || (name === 'slug' && fields.slug === null),
  )
}

/** Where no slug is given, one made from the name, with a number behind it if that is taken. */
async function writeWithSlug<Outcome>(
  slug: string | null,
  name: string,
  write: (slug: string | null) => Promise<Outcome>,
): Promise<Outcome> {
  const suggested = suggestSlug(name)
  if (slug !== null || suggested === '') return write(slug)
  for (let number = 1; number <= SUGGESTIONS_MAX; number += 1) {
    const written = await write(number === 1 ? suggested : `${suggested}-${number}`)
    if (written !== 'slug taken') return written
  }
  return write(null)
}

function complaintFor(written: Exclude<Written, 'written'>): Record<string, string> {
  return written === 'slug taken'
    ? { slug: 'Another of your servers has this slug. Take another one.' }
    : { organization_id: 'You are no member of this organization. Take another place.' }
}

/** What the address of the page says, where a session had ended in between. */
function typedBefore(visit: Visit): Record<string, string> {
  const typed = KEPT_FIELDS.flatMap((name) => {
    const value = visit.req.query(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(typed)
}

function withoutNulls(fields: object): Record<string, string> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
