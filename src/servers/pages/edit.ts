import {
  type RegisteredServer,
  fingerprintOf,
  REGISTERED_MAX,
  SERVER_FIELDS,
  type ServerFields,
  type Written,
} from '../server.ts'
import { type Context, actorOf, type App, type Dashboard, fieldOf } from '../../web/context.ts'
import { type Notice, showNotFound } from '../../web/html/page.ts'
import { listPathOf, placeBefore, publicUrlOf, readPlace } from './location.ts'
import { servers } from '../records/servers.ts'
import { idFromFormTag } from '../../web/request/form-id.ts'
import { INITIAL } from '../fields.ts'
import { suggestSlug } from '../server-entry.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { readFields, showServerForm } from './form.ts'
import { sayOutdated, showGone } from './stale.ts'
import type { Saved } from './notices.ts'
import { showVisibleServer } from './visible-server.ts'
import { organizations } from '../../organizations/records/organizations.ts'

/** If a suggested slug is taken, numbers up to this one are tried behind it. */
const SUGGESTIONS_MAX = 20

/** Registers and edits servers. */
export function addEditRoutes(app: App, dashboard: Dashboard): void {
  addNewServerRoutes(app, dashboard)
  addServerRoutes(app, dashboard)
}

function findOrganizations({ database }: Dashboard, c: Context) {
  return organizations(database).listOrganizations(c.get('session').userId)
}

function addNewServerRoutes(app: App, dashboard: Dashboard): void {
  const records = servers(dashboard.database)
  const hasPublicPages = dashboard.siteUrl !== null

  app.get('/dashboard/servers/new', async (c) =>
    showServerForm(c, {
      id: null,
      values: { ...withoutNulls(INITIAL), ...valuesFromQuery(c) },
      organizations: await findOrganizations(dashboard, c),
      from: placeBefore(c),
      hasPublicPages,
    }),
  )

  app.post('/dashboard/servers/new', async (c) => {
    const { userId } = c.get('session')
    const { fields, values, complaints, isShortened } = readFields(c, INITIAL)
    const organizations = await findOrganizations(dashboard, c)
    const from = readPlace(fieldOf(c, 'from'))
    const form = { id: null, values, organizations, from, hasPublicPages }
    if (fields === null) return showServerForm(c, { ...form, errors: complaints })

    const id = idFromFormTag(userId, fieldOf(c, 'form'))
    const written = await writeWithSlug(fields.slug, fields.name, (slug) =>
      records.insertServer(userId, id, { ...fields, slug }, actorOf(dashboard, c)),
    )
    const added = isShortened ? 'added-shortened' : 'added'
    if (written === 'written') return toList(dashboard, c, added, id, fields)
    if (written === 'too many') return showServerForm(c, { ...form, notice: TOO_MANY })
    if (written !== 'known') return showServerForm(c, { ...form, errors: complaintFor(written) })
    if (isSame(fields, await records.findServer(userId, id)))
      return toList(dashboard, c, added, id, fields)
    return showServerForm(c, { ...form, notice: SENT_BEFORE, isSpent: true })
  })
}

function addServerRoutes(app: App, dashboard: Dashboard): void {
  const records = servers(dashboard.database)
  const hasPublicPages = dashboard.siteUrl !== null

  app.get('/dashboard/servers/:id', async (c) => {
    const { userId } = c.get('session')
    const server = await records.findVisibleServer(userId, c.req.param('id'))
    if (server === null) return showNotFound(c)
    if (server.created_by !== userId) return showVisibleServer(dashboard, c, server)
    const { id, ...fields } = server
    const values = withoutNulls(fields)
    const from = placeBefore(c)
    const seen = fingerprintOf(server)
    const publicUrl = publicUrlOf(dashboard, server)
    const organizations = await findOrganizations(dashboard, c)
    const form = { id, values, organizations, from, seen, publicUrl, hasPublicPages }
    return showServerForm(c, form)
  })

  app.post('/dashboard/servers/:id', async (c) => {
    const { userId } = c.get('session')
    const server = await records.findServer(userId, c.req.param('id'))
    if (server === null) return showGone(c)
    const { id } = server
    const { fields, values, complaints, isShortened } = readFields(c, server)
    const seen = fieldOf(c, 'seen') || fingerprintOf(server)
    const organizations = await findOrganizations(dashboard, c)
    const from = readPlace(fieldOf(c, 'from'))
    const form = { id, values, organizations, from, seen, hasPublicPages }
    if (fields === null) return showServerForm(c, { ...form, errors: complaints })
    const tag = fieldOf(c, 'form')
    const change = idFromFormTag(userId, tag && [tag, id, fingerprintOf(fields)].join('\n'))
    const actor = actorOf(dashboard, c)
    const written = await records.updateServer(userId, id, fields, actor, seen, change)
    const changed = isShortened ? 'changed-shortened' : 'changed'
    if (written === 'written') return toList(dashboard, c, changed, change, fields)
    if (written !== 'outdated') return showServerForm(c, { ...form, errors: complaintFor(written) })
    const stored = await records.findServer(userId, id)
    if (stored === null) return showGone(c)
    const notice = sayOutdated(stored, fields)
    return showServerForm(c, { ...form, notice, seen: fingerprintOf(stored) })
  })
}

/**
 * Leads to the list that has the server, with a notice. To the place that the user came from, if it
 * is in this list.
 */
function toList(
  dashboard: Dashboard,
  c: Context,
  outcome: Saved,
  id: string,
  fields: ServerFields,
): Response {
  tellNext(dashboard, c, outcome, id)
  const from = readPlace(fieldOf(c, 'from'))
  const list = listPathOf(fields)
  return c.redirect(from?.replace(/[?#].*$/, '') === list ? from : list, 303)
}

const TOO_MANY: Notice = {
  kind: 'bad',
  text: `Not registered: you have reached the limit of ${REGISTERED_MAX} servers. Delete one you no longer need.`,
}
const SENT_BEFORE: Notice = {
  kind: 'note',
  text: 'This form already registered a server with other values. To register the server below as well, send the form again.',
}

/**
 * True if the form matches the stored server. An empty slug matches, because the service made one
 * from the name.
 */
function isSame(fields: ServerFields, found: RegisteredServer | null): boolean {
  if (found === null) return false
  return fingerprintOf({ ...fields, slug: fields.slug ?? found.slug }) === fingerprintOf(found)
}

/** Writes with the given slug, or with one made from the name and a number if that is taken. */
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
    ? { slug: 'Another of your servers already uses this slug.' }
    : { organization_id: 'You are not a member of this organization. Choose a different owner.' }
}

/** The values in the page's address, of a server that is gone. */
function valuesFromQuery(c: Context): Record<string, string> {
  const typed = SERVER_FIELDS.flatMap((name) => {
    const value = c.req.query(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(typed)
}

function withoutNulls(fields: object): Record<string, string> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
