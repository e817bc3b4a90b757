import { html } from 'hono/html'
import type { Instant } from '../../model/instant.ts'
import { count, countOf } from '../../model/text.ts'
import { REGISTERED_MAX } from '../server.ts'
import type { NamedServer, ServerChange } from '../server-change.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import type { Notice } from '../../web/html/page.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { takeTold } from '../../web/request/next-notice.ts'
import type { Database } from '../../database/database.ts'
import { servers } from '../records/servers.ts'
import { serverChanges } from '../records/server-changes.ts'
import { organizations } from '../../organizations/records/organizations.ts'

/*
 * What the next list says after an action.
 */

/** What a form did. The server has a shorter address than the form. */
export type Saved = 'added' | 'added-shortened' | 'changed' | 'changed-shortened'

/** The cookie has the id of the new server or of the change. */
const OUTCOMES = [
  'added',
  'added-shortened',
  'changed',
  'changed-shortened',
  'none',
  'too-late',
] as const

/** The notice for this list, once. */
export async function takeNotice(dashboard: Dashboard, c: Context): Promise<Notice | undefined> {
  const told = takeTold(dashboard, c, OUTCOMES)
  if (told === null) return undefined
  const { userId } = c.get('session')
  const said = await say(dashboard.database, userId, told, dashboard.now())
  return said === null ? undefined : { ...said, isSticky: true }
}

async function say(
  database: Database,
  userId: string,
  { outcome, id }: { outcome: (typeof OUTCOMES)[number]; id: string },
  now: Instant,
): Promise<Notice | null> {
  switch (outcome) {
    case 'added':
    case 'added-shortened': {
      const server = await servers(database).findServer(userId, id)
      if (server === null) return null
      const isPersonal = server.organization_id === null
      const place = isPersonal ? '' : ' to this organization'
      const added = html`${showNames([server])} was added${place}.`
      return {
        kind: 'good',
        text: outcome === 'added' ? added : sayShortened(added, server),
        detail: isPersonal ? html` The API now returns it.` : html` The API never returns it.`,
      }
    }
    case 'changed':
    case 'changed-shortened': {
      const change = await serverChanges(database).findChange(userId, id, now)
      if (change === null) return null
      if (change.restored !== null) return sayUndone(change, change.restored)
      const done = await sayDone(database, userId, change)
      const server = await servers(database).findServer(userId, change.changed[0]?.id ?? '')
      const isShortened = outcome === 'changed-shortened' && done !== null && server !== null
      return sayChange(change, isShortened ? sayShortened(done, server) : done)
    }
    case 'none':
      return { kind: 'note', text: 'Nothing was changed. Select at least one server first.' }
    default:
      return { kind: 'note', text: 'Nothing was changed. You can undo a change for one hour.' }
  }
}

function sayShortened(done: Html | string, { address }: { address: string }): Html {
  return html`${done} We shortened its address to <b>${isolated(address)}</b>.`
}

/** What the change did. Null if every server was so already. */
async function sayDone(
  database: Database,
  userId: string,
  { action, changed, added, movedTo }: ServerChange,
): Promise<Html | string | null> {
  if (action === 'servers imported')
    return `Import finished: ${count(added)} new, ${count(changed.length - added)} changed.`
  if (changed.length === 0) return null
  const names = showNames(changed)
  const [are, were] = changed.length === 1 ? ['is', 'was'] : ['are', 'were']
  if (movedTo === null)
    return html`${names} ${are} ${changed.length === 1 ? 'a personal server' : 'personal servers'} now.`
  if (movedTo !== undefined) {
    const own = await organizations(database).listOrganizations(userId)
    const organization = own.find((one) => one.id === movedTo)
    const place =
      organization === undefined
        ? 'an organization'
        : html`<a href="/dashboard/organizations/${movedTo}">${isolated(organization.name)}</a>`
    return html`${names} ${were} moved to ${place}.`
  }
  if (action === 'server changed') return html`${names} was saved.`
  if (action === 'servers removed') return html`${names} ${were} deleted.`
  const become =
    action === 'servers published' ? 'published' : changed.length === 1 ? 'a draft' : 'drafts'
  return html`${names} ${are} now ${become}.`
}

function sayChange(change: ServerChange, done: Html | string | null): Notice {
  const { id, action, changed } = change
  if (done === null) return { kind: 'note', text: `Nothing was changed. ${ALREADY[action]}` }
  const undo = html`<form method="post" action="/dashboard/servers/undo"><button name="change" value="${id}">Undo</button></form>`
  return {
    kind: 'good',
    text: done,
    detail: sayListing(change),
    ...(changed.length === 0 ? {} : { followUp: undo }),
  }
}

const ALREADY: Record<ServerChange['action'], string> = {
  'server changed': 'The server already has these values.',
  'servers published': 'Every selected server is published already.',
  'servers unpublished': 'Every selected server is a draft already.',
  'servers moved': 'Every selected server is there already.',
  'servers removed': '',
  'servers imported': '',
}

/** What entered the API's answer, and what left it. */
function sayListing({ changed, entered, left }: ServerChange): Html {
  const ids = new Set(changed.map(({ id }) => id))
  const own = (some: readonly NamedServer[]) => {
    const number = some.filter(({ id }) => ids.has(id)).length
    if (number === 0) return null
    if (number < changed.length) return `${number} of them`
    return number === 1 ? 'it' : 'them'
  }
  const others = (some: readonly NamedServer[]) => {
    const names = some.filter(({ id }) => !ids.has(id))
    if (names.length === 0) return null
    return names.length === 1 ? showNames(names) : `${names.length} others`
  }
  const [returned, dropped] = [own(entered), own(left)]
  const [movedUp, pushedOut] = [others(entered), others(left)]
  return html`${returned && ` The API now returns ${returned}.`}${dropped && ` The API no longer returns ${dropped}.`}${movedUp && html` ${movedUp} entered its answer.`}${pushedOut && html` ${pushedOut} left its answer.`}`
}

function sayUndone({ action, changed }: ServerChange, restored: number): Notice {
  const are = restored === 1 ? 'is' : 'are'
  const before = action === 'servers removed' ? 'back' : 'as before'
  if (restored === changed.length && action === 'servers imported')
    return { kind: 'good', text: `The import of ${countOf(restored, 'server')} was undone.` }
  if (restored === changed.length)
    return { kind: 'good', text: html`${showNames(changed)} ${are} ${before}.` }
  const done =
    restored === 0
      ? 'Nothing was undone.'
      : `${restored} of ${changed.length} servers ${are} ${before}.`
  const reason = `A server stays if it has changed since, its slug is taken, you are not in its organization, or you have ${REGISTERED_MAX} servers.`
  return { kind: 'note', text: `${done} ${reason}` }
}

const NAMED_MAX = 2

/** The names of servers, as the subject of a sentence. */
function showNames(servers: readonly { name: string }[]): Html {
  const more = servers.length - NAMED_MAX
  const names = servers.slice(0, NAMED_MAX).map(({ name }) => html`<b>${isolated(name)}</b>`)
  if (more > 0) return html`${names[0]!}, ${names[1]!} and ${more} more`
  return names.length === 2 ? html`${names[0]!} and ${names[1]!}` : html`${names}`
}
