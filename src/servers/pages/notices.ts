import { html } from 'hono/html'
import { sayCounts } from '../server-import.ts'
import type { Instant } from '../../model/instant.ts'
import { REGISTERED_MAX } from '../server.ts'
import type { BulkChange } from '../bulk-change.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import type { Notice } from '../../web/html/page.ts'
import { type Html, truncated } from '../../web/html/text.ts'
import { takeTold } from '../../web/request/next-notice.ts'
import type { Database } from '../../database/database.ts'
import { servers } from '../records/servers.ts'
import { bulkChanges } from '../records/bulk-changes.ts'
import { checkedImports } from '../records/checked-imports.ts'

/*
 * What the next list says after an action.
 */

/** The cookie has the id of the server, the change or the import. */
const OUTCOMES = [
  'added',
  'saved',
  'moved',
  'changed',
  'undone',
  'imported',
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
    case 'saved':
    case 'moved': {
      const server = await servers(database).findServer(userId, id)
      if (server === null) return null
      const done = outcome === 'moved' ? sayMoved(server.organization_id) : `was ${outcome}.`
      return { kind: 'good', text: html`${showNames([server])} ${done}` }
    }
    case 'changed':
    case 'undone': {
      const change = await bulkChanges(database).findBulkChange(userId, id, now)
      return change === null ? null : sayChange(change)
    }
    case 'imported': {
      const found = await checkedImports(database).findImport(userId, id, now)
      return found?.saved
        ? { kind: 'good', text: `Import finished: ${sayCounts(found.saved)}.` }
        : null
    }
    case 'none':
      return { kind: 'note', text: 'Nothing was changed. Select at least one server first.' }
    default:
      return { kind: 'note', text: 'Nothing was changed. You can undo a change for one hour.' }
  }
}

function sayMoved(organizationId: string | null): string {
  return organizationId === null
    ? 'is a personal server now. The API returns it.'
    : 'was moved to this organization. The API no longer returns it.'
}

function sayChange({ id, status, changed, restored }: BulkChange): Notice {
  if (restored !== null) return sayUndone(status, changed, restored)
  if (changed.length === 0)
    return {
      kind: 'note',
      text: `Nothing was changed. Every selected server is ${inWords(status, 1)} already.`,
    }
  const isOne = changed.length === 1
  const done = status === null ? (isOne ? 'was' : 'were') : isOne ? 'is now' : 'are now'
  return {
    kind: 'good',
    text: html`${showNames(changed)} ${done} ${inWords(status, changed.length)}.`,
    followUp: html`<form method="post" action="/dashboard/servers/undo"><button name="change" value="${id}">Undo</button></form>`,
  }
}

/** What servers are after a change, such as `drafts`. */
export function inWords(status: string | null, servers: number): string {
  if (status === null) return 'deleted'
  if (status === 'draft') return servers === 1 ? 'a draft' : 'drafts'
  return status
}

function sayUndone(
  status: string | null,
  changed: BulkChange['changed'],
  restored: number,
): Notice {
  const are = restored === 1 ? 'is' : 'are'
  const before = status === null ? 'back' : 'as before'
  if (restored === changed.length)
    return { kind: 'good', text: html`${showNames(changed)} ${are} ${before}.` }
  const done =
    restored === 0
      ? 'Nothing was undone.'
      : `${restored} of ${changed.length} servers ${are} ${before}.`
  const reason =
    status === null
      ? `A server stays deleted if its slug is taken, you are not in its organization, or you have ${REGISTERED_MAX} servers.`
      : 'A server stays as it is if it has changed since, or if you are not in its organization.'
  return { kind: 'note', text: `${done} ${reason}` }
}

const NAMED_MAX = 2
/** Bytes of a name, for `truncated`. It also stands in the title. */
const NAME_BYTES = 56

/** The names of servers, as the subject of a sentence. */
function showNames(servers: readonly { name: string }[]): Html {
  const more = servers.length - NAMED_MAX
  const names = servers
    .slice(0, NAMED_MAX)
    .map(({ name }) => html`<b>${truncated(name, NAME_BYTES)}</b>`)
  if (more > 0) return html`${names[0]!}, ${names[1]!} and ${more} more`
  return names.length === 2 ? html`${names[0]!} and ${names[1]!}` : html`${names}`
}
