import { html } from 'hono/html'
import { idFromFormTag } from '../../../web/request/form-id.ts'
import { count } from '../../../model/text.ts'
import { PAGE_SIZE } from '../../server-search.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../../web/context.ts'
import { showNotFound, showUnchanged } from '../../../web/html/page.ts'
import { showQuestion } from '../../../web/html/question.ts'
import { type Html, isolated } from '../../../web/html/text.ts'
import { listPathOf, organizationOf, placeBefore, readPlace } from '../location.ts'
import { showMove } from './move.ts'
import { type Asked, CHANGE_PATH, findSelected, readChange, showAsked } from './selected.ts'
import { tellNext } from '../../../web/request/next-notice.ts'
import { servers } from '../../records/servers.ts'
import { serverChanges, type Unchanged } from '../../records/server-changes.ts'
import type { Database } from '../../../database/database.ts'
import { organizations } from '../../../organizations/records/organizations.ts'

/** Publishes, unpublishes, moves and deletes servers, one or several at once, and undoes that. */
export function addChangeRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.post(CHANGE_PATH, async (c) => {
    const { userId } = c.get('session')
    const wanted = readChange(c)
    const from = await readList(database, c)
    if (wanted === null) {
      tellNext(dashboard, c, 'none')
      return c.redirect(from, 303)
    }
    const { becomes, selected, row, isConfirmed } = wanted
    if (!isConfirmed) {
      const own = await findSelected(database, userId, selected)
      if (own === null) return showRefusal(c, { reason: 'other number' }, from)
      if (own.length === 0) return showRefusal(c, { reason: 'not found' }, from)
      const asked = { servers: own, from, isAll: 'number' in selected }
      if (becomes === null) return showDeletion(c, asked)
      return showMove(c, asked, await organizations(database).listOrganizations(userId))
    }
    // Another selection of the same page is another change.
    const tag = fieldOf(c, 'form')
    const id = idFromFormTag(userId, tag && JSON.stringify([tag, becomes, selected]))
    const change = await serverChanges(database).changeServers(
      userId,
      { id, becomes, servers: selected },
      actorOf(dashboard, c),
    )
    if ('reason' in change) return showRefusal(c, change, from)
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
    const from = placeBefore(c) ?? listPathOf(server)
    return showDeletion(c, { servers: [server], from, isAll: false })
  })
}

/** The list to return to. The user may have left its organization meanwhile. */
async function readList(database: Database, c: Context): Promise<string> {
  const from = readPlace(fieldOf(c, 'from')) ?? placeBefore(c) ?? '/dashboard/servers'
  const organization = organizationOf(from)
  if (organization === null) return from
  const own = await organizations(database).listOrganizations(c.get('session').userId)
  return own.some(({ id }) => id === organization) ? from : '/dashboard/servers'
}

/** Asks before it deletes. */
function showDeletion(c: Context, asked: Asked): Promise<Response> {
  const { servers, from } = asked
  const [first] = servers
  const isOne = servers.length === 1
  const all = `Delete ${servers.length} servers`
  return showQuestion(c, {
    title: isOne ? 'Delete a server' : all,
    asks: isOne
      ? html`Delete ${isolated(first!.name)} (<code>${isolated(first!.address)}</code>)?`
      : html`Delete these servers?`,
    consequences: [
      `The API stops returning ${isOne ? 'it' : 'them'} at once. You can undo this for one hour.`,
    ],
    more: showAsked(asked),
    button: isOne ? 'Delete server' : all,
    back: from,
    sent: { to: CHANGE_PATH, confirmed: 'deleted' },
  })
}

/** Says why nothing was changed. */
function showRefusal(c: Context, refusal: Unchanged, from: string): Promise<Response> {
  const isGone = refusal.reason === 'not found' || refusal.reason === 'not a member'
  return showUnchanged(
    c,
    html`${sayRefusal(refusal)} <a href="${from}">Go back to the list</a>`,
    isGone ? 404 : 409,
  )
}

function sayRefusal(refusal: Unchanged): Html {
  switch (refusal.reason) {
    // Another tab may have deleted them. The servers of other users get the same answer.
    case 'not found':
      return html`These servers no longer exist, or you can’t change them.`
    case 'not a member':
      return html`You are not a member of the organization to which the servers should move.`
    case 'other number':
      return html`Another tab or program has changed which servers match, so their number is no longer the one that you selected.`
    default: {
      const more = refusal.slugs.length - PAGE_SIZE
      return html`Two of your servers would have the same slug there. Change these slugs, or leave the servers out:${refusal.slugs.slice(0, PAGE_SIZE).map((slug) => html` <code>${isolated(slug)}</code>`)}${more > 0 ? ` and ${count(more)} more` : ''}.`
    }
  }
}
