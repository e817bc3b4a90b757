import { html } from 'hono/html'
import { tellEvent } from '../../accounts/pages/event-words.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { audit } from '../../accounts/records/audit.ts'
import { nameOf, type User } from '../../accounts/user.ts'
import { operator } from '../../directory/records/operator.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import type { AuditEntry } from '../../model/audit.ts'
import { organizations } from '../../organizations/records/organizations.ts'
import type { App, Context } from '../../web/context.ts'
import { type Notice, showNotFound, showPage } from '../../web/html/page.ts'
import { showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolatedText } from '../../web/html/text.ts'
import { takeTold } from '../../web/request/next-notice.ts'
import { BAN_STANDS, showActs } from './acts.ts'
import { showUserFacts } from './user-facts.ts'
import { USERS_PATH } from './users.ts'

const EVENTS_SHOWN = 20

/** One user, with what an operator can do for them. */
export function addUserRoute(app: App, dashboard: AccountsDashboard): void {
  const { database } = dashboard

  app.get(`${USERS_PATH}/:id`, async (c) => {
    const user = await operator(database).findUserDetails(c.req.param('id'))
    if (user === null) return showNotFound(c)
    const events = await audit(database).listEvents(user.id, EVENTS_SHOWN)
    const name = nameOf(user)
    return showPage(c, {
      title: isolatedText(name),
      notice: takeDone(dashboard, c, user),
      body: html`${await showUserFacts(dashboard, user)}
<section><h2>Help or end access</h2>${showActs(c, user)}</section>
<section id="events"><h2>Latest events</h2>
${events.length === 0 ? html`<p>The audit log has no entry about this account.</p>` : await showEvents(dashboard, user.id, events)}</section>
<p><a href="${USERS_PATH}">Back to the users</a></p>`,
    })
  })
}

async function showEvents(
  { database, now }: AccountsDashboard,
  userId: string,
  events: readonly AuditEntry[],
): Promise<Html> {
  const at = now()
  const keys = await apiKeys(database).findApiKeys(events.map(({ subject }) => subject))
  const joined = await organizations(database).listOrganizations(userId)
  const names = new Map([...keys, ...joined].map(({ id, name }) => [id, name]))
  return showTable(
    'Latest events',
    ['When', 'What', 'From'],
    events.map((event) => [
      showAgo(event.occurred_at, at),
      html`${tellEvent(event, names)}`,
      html`<code>${event.address}</code>`,
    ]),
  )
}

const DONE = {
  disable: 'The account is disabled. Its keys get a 401, and its sessions have ended.',
  enable: 'The account is enabled. Its keys work again, and the user can sign in.',
  'sign-out': 'The user is signed out everywhere.',
}

function takeDone(
  dashboard: AccountsDashboard,
  c: Context,
  { banned_at }: User,
): Notice | undefined {
  const told = takeTold(dashboard, c, Object.keys(DONE) as (keyof typeof DONE)[])
  if (told === null) return undefined
  const isStill = told.outcome === 'enable' && banned_at !== null
  return {
    kind: 'good',
    text: isStill ? `The account is enabled. ${BAN_STANDS}` : DONE[told.outcome],
  }
}
