import { html } from 'hono/html'
import { idFromFormTag } from '../../web/request/form-id.ts'
import type { RegisteredServer } from '../server.ts'
import type { Becomes } from '../server-change.ts'
import { PAGE_SIZE } from '../server-search.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../web/context.ts'
import { showFormTag } from '../../web/html/form-field.ts'
import { showNotFound, showPage, showUnchanged } from '../../web/html/page.ts'
import { type Html, isolated, NAME_BYTES, truncated } from '../../web/html/text.ts'
import { listPathOf, placeBefore, readPlace } from './location.ts'
import { PERSONAL, showMove } from './move.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { servers } from '../records/servers.ts'
import { serverChanges, type Unchanged } from '../records/server-changes.ts'
import type { Database } from '../../database/database.ts'
import { organizations } from '../../organizations/records/organizations.ts'

/** Publishes, unpublishes, moves and deletes servers, one or several at once, and undoes that. */
export function addChangeRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.post('/dashboard/servers/change', async (c) => {
    const { userId } = c.get('session')
    const wanted = readChange(c)
    const from = await readList(database, c)
    if (wanted === null || wanted.servers.length === 0) {
      tellNext(dashboard, c, 'none')
      return c.redirect(from, 303)
    }
    const { becomes, servers: ids, row, isConfirmed } = wanted
    if (!isConfirmed) {
      const found = await Promise.all(ids.map((id) => servers(database).findServer(userId, id)))
      const own = found.filter((server) => server !== null)
      if (own.length === 0) return showRefusal(c, { reason: 'not found' })
      if (becomes === null) return showDeletion(c, own, from)
      const joined = await organizations(database).listOrganizations(userId)
      return showMove(c, own, from, joined)
    }
    // Another selection of the same page is another change.
    const tag = fieldOf(c, 'form')
    const id = idFromFormTag(userId, tag && [tag, JSON.stringify(becomes), ...ids].join('\n'))
    const change = await serverChanges(database).changeServers(
      userId,
      { id, becomes, servers: ids },
      actorOf(dashboard, c),
    )
    if ('reason' in change) return showRefusal(c, change)
    tellNext(dashboard, c, 'changed', change.id)
    return c.redirect(row === null ? from : `${from}#s${row}`, 303)
  })

  app.post('/dashboard/servers/undo', async (c) => {
    const from = await readList(database, c)
    const { userId } = c.get('session')
    const undone = await serverChanges(database).undoChange(
      userId,
      fieldOf(c, 'change'),
      actorOf(dashboard, c),
    )
    if (undone === null) tellNext(dashboard, c, 'too-late')
    else tellNext(dashboard, c, 'changed', undone.id)
    return c.redirect(from, 303)
  })

  app.get('/dashboard/servers/:id/delete', async (c) => {
    const server = await servers(database).findServer(c.get('session').userId, c.req.param('id'))
    if (server === null) return showNotFound(c)
    return showDeletion(c, [server], placeBefore(c) ?? listPathOf(server))
  })
}

const OF_ORGANIZATION = /^\/dashboard\/organizations\/([0-9a-f-]+)/

/** The list to return to. The user may have left its organization meanwhile. */
async function readList(database: Database, c: Context): Promise<string> {
  const from = readPlace(fieldOf(c, 'from')) ?? placeBefore(c) ?? '/dashboard/servers'
  const organization = OF_ORGANIZATION.exec(from)?.[1]
  if (organization === undefined) return from
  const own = await organizations(database).listOrganizations(c.get('session').userId)
  return own.some(({ id }) => id === organization) ? from : '/dashboard/servers'
}

interface WantedByForm {
  becomes: Becomes
  servers: string[]
  /** The row whose button was pressed. */
  row: number | null
  isConfirmed: boolean
}

/**
 * `rows` has the servers of a page. A selected row has a field with its number as the name. A
 * button of a row names the row, and the other buttons name in `to` what becomes of the selected
 * rows. A confirmed deletion or move means all of `rows`. `move` has the place to which servers
 * move: `personal`, or the id of an organization. Without it, the user is asked.
 */
function readChange(c: Context): WantedByForm | null {
  const ids = fieldOf(c, 'rows').split('.').slice(0, PAGE_SIZE)
  for (const status of ['draft', 'published'] as const) {
    const row = Number(fieldOf(c, status) || Number.NaN)
    const id = ids[row]
    if (id !== undefined) return { becomes: { status }, servers: [id], row, isConfirmed: true }
  }
  const servers = ids.filter((_, row) => c.get('form').has(String(row)))
  const place = fieldOf(c, 'move')
  const to = fieldOf(c, 'to') || (place === '' ? '' : 'moved')
  switch (to) {
    case 'published':
    case 'draft':
      return { becomes: { status: to }, servers, row: null, isConfirmed: true }
    case 'deleted':
      return { becomes: null, servers, row: null, isConfirmed: false }
    case 'deleted for sure':
      return { becomes: null, servers: ids, row: null, isConfirmed: true }
    case 'moved':
    case 'moved for sure': {
      const becomes = { organization_id: place === PERSONAL ? null : place }
      const moving = to === 'moved' ? servers : ids
      return { becomes, servers: moving, row: null, isConfirmed: place !== '' }
    }
    default:
      return null
  }
}

/** Asks before it deletes. */
function showDeletion(
  c: Context,
  servers: readonly RegisteredServer[],
  from: string,
): Promise<Response> {
  const [first] = servers
  const isOne = servers.length === 1
  const label = isOne ? 'Delete server' : `Delete ${servers.length} servers`
  return showPage(c, {
    title: isOne ? 'Delete a server' : `Delete ${servers.length} servers`,
    width: 'form',
    body: html`<form class="card" method="post" action="/dashboard/servers/change">
${showFormTag()}<input type="hidden" name="from" value="${from}">
<input type="hidden" name="rows" value="${servers.map(({ id }) => id).join('.')}">
${isOne ? html`<p>Delete <b>${isolated(first!.name)}</b> (<code>${first!.address}</code>)?</p>` : showList(servers)}
<p>The API stops returning ${isOne ? 'it' : 'them'} at once. You can undo this for one hour.</p>
<div class="row"><button class="danger" name="to" value="deleted for sure">${label}</button>
<a class="button" href="${from}">Cancel</a></div>
</form>`,
  })
}

function showList(servers: readonly RegisteredServer[]): Html {
  return html`<p>Delete these servers?</p><ul>${servers.map(({ name }) => html`<li>${truncated(name, NAME_BYTES)}</li>`)}</ul>`
}

/** Says why nothing was changed. */
function showRefusal(c: Context, refusal: Unchanged): Promise<Response> {
  return showUnchanged(
    c,
    html`${sayRefusal(refusal)} <a href="/dashboard/servers">Go to your servers</a>`,
    refusal.reason === 'slugs taken' ? 409 : 404,
  )
}

function sayRefusal(refusal: Unchanged): Html {
  switch (refusal.reason) {
    // Another tab may have deleted them. The servers of other users get the same answer.
    case 'not found':
      return html`These servers no longer exist, or you can’t change them.`
    case 'not a member':
      return html`You are not a member of the organization to which the servers should move.`
    default:
      return html`Two of your servers would have the same slug there. Change these slugs, or leave the servers out:${refusal.slugs.map((slug) => html` <code>${truncated(slug, NAME_BYTES)}</code>`)}.`
  }
}
