import { html } from 'hono/html'
import type { CheckedImportStore, SavedImport } from '../../listing/servers/checked-import.ts'
import type { Instant } from '../../listing/instant.ts'
import {
  REGISTERED_MAX,
  type RegisteredServerStore,
} from '../../listing/servers/registered-server.ts'
import type { ServerChange, ServerChangeStore } from '../../listing/servers/server-changes.ts'
import { type Context, cookieOf, type Dashboard } from '../context.ts'
import { notice } from '../html/page.ts'
import { type Html, isolated } from '../html/text.ts'

/*
 * What the next list says after an action. A cookie carries it there once, so that a reload does
 * not repeat it.
 */

/** What happened, and the id of the server, the change or the import. */
type Outcome = 'added' | 'saved' | 'changed' | 'undone' | 'imported' | 'none' | 'too late'

const COOKIE = 'notice'
const SECONDS = 60
const VALUE = /(?:^|; )notice=(\w+)\.([0-9a-f-]{0,36})(?:;|$)/

/** Tells the next list about an action. `id` is that of the server, the change or the import. */
export function tellNext({ dashboardUrl }: Dashboard, c: Context, outcome: Outcome, id = ''): void {
  const value = `${outcome.replace(' ', '_')}.${id}`
  setNotice(c, dashboardUrl, `${COOKIE}=${value}; Max-Age=${SECONDS}`)
}

function setNotice(c: Context, dashboardUrl: string, cookie: string): void {
  const secure = dashboardUrl.startsWith('https://') ? '; Secure' : ''
  const line = `${cookie}; Path=/dashboard; HttpOnly; SameSite=Lax${secure}`
  c.header('Set-Cookie', line, { append: true })
}

type Stores = RegisteredServerStore & ServerChangeStore & CheckedImportStore

/** The notice for this list, once. `place` is the list with its search. */
export async function takeNotice(
  dashboard: Dashboard<Stores>,
  c: Context,
  place: string,
): Promise<Html | ''> {
  const [, outcome, id = ''] = VALUE.exec(cookieOf(c)) ?? []
  if (outcome === undefined) return ''
  setNotice(c, dashboard.dashboardUrl, `${COOKIE}=; Max-Age=0`)
  const { userId } = c.get('session')
  const said = await sayOutcome(dashboard.store, userId, outcome, id, place, dashboard.now())
  return said === '' ? '' : html`<div class="done">${said}</div>`
}

async function sayOutcome(
  store: Stores,
  userId: string,
  outcome: string,
  id: string,
  place: string,
  now: Instant,
): Promise<Html | ''> {
  switch (outcome) {
    case 'added':
    case 'saved': {
      const server = await store.findServer(userId, id)
      if (server === null) return ''
      const done = outcome === 'added' ? 'was added.' : 'was saved.'
      return notice('good', html`<b>${isolated(server.name)}</b> ${done}`)
    }
    case 'changed':
    case 'undone': {
      const change = await store.findServerChange(userId, id, now)
      return change === null ? '' : sayChange(change, place)
    }
    case 'imported': {
      const found = await store.findImport(userId, id, now)
      return found?.saved ? notice('good', sayImport(found.saved)) : ''
    }
    case 'none':
      return notice('note', 'Nothing was changed. Select at least one server first.')
    case 'too_late':
      return notice('note', 'Nothing was changed. You can undo a change for one hour.')
    default:
      return ''
  }
}

function sayImport({ added, changed, unchanged }: SavedImport): string {
  return `Import finished: ${added} added, ${changed} changed, ${unchanged} unchanged.`
}

function sayChange({ id, status, changed, restored }: ServerChange, place: string): Html {
  if (restored !== null) return sayUndone(status, changed, restored)
  if (changed.length === 0)
    return notice(
      'note',
      `Nothing was changed. Every selected server is ${inWords(status, 1)} already.`,
    )
  const isOne = changed.length === 1
  const done = status === null ? (isOne ? 'was' : 'were') : isOne ? 'is now' : 'are now'
  return notice(
    'good',
    html`${showNames(changed)} ${done} ${inWords(status, changed.length)}.`,
    html`<form method="post" action="/dashboard/servers/undo"><input type="hidden" name="from" value="${place}"><button name="change" value="${id}">Undo</button></form>`,
  )
}

/** What servers are after a change, such as `drafts`. */
export function inWords(status: string | null, servers: number): string {
  if (status === null) return 'deleted'
  if (status === 'draft') return servers === 1 ? 'a draft' : 'drafts'
  return status
}

function sayUndone(
  status: string | null,
  changed: ServerChange['changed'],
  restored: number,
): Html {
  const left = changed.length - restored
  const isBack = status === null ? (restored === 1 ? 'is back' : 'are back') : 'as before'
  const count = `${restored} ${restored === 1 ? 'server' : 'servers'} ${isBack}`
  if (left === 0)
    return notice(
      'good',
      status === null
        ? html`${showNames(changed)} ${isBack}.`
        : html`${showNames(changed)} ${restored === 1 ? 'is' : 'are'} as before.`,
    )
  const reason =
    status === null
      ? `Its slug is taken, its organization is gone, or you have ${REGISTERED_MAX} servers.`
      : 'It has changed since.'
  const reasons =
    left === 1 ? reason : reason.replace('Its', 'Their').replace('It has', 'They have')
  return notice('note', `Undone: ${count}, ${left} not. ${reasons}`)
}

const NAMED_MAX = 2

/** The names of servers, as the subject of a sentence. */
export function showNames(servers: readonly { name: string }[]): Html {
  const more = servers.length - NAMED_MAX
  const names = servers.slice(0, NAMED_MAX).map(({ name }) => html`<b>${isolated(name)}</b>`)
  if (more > 0) return html`${names[0]!}, ${names[1]!} and ${more} more`
  return names.length === 2 ? html`${names[0]!} and ${names[1]!}` : html`${names}`
}
