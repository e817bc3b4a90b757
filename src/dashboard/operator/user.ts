import { html } from 'hono/html'
import { showEvents } from '../../accounts/pages/events.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { nameOf } from '../../accounts/user.ts'
import { operator } from '../../directory/records/operator.ts'
import type { App } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { isolatedText } from '../../web/html/text.ts'
import { takeDone } from '../../web/request/next-notice.ts'
import { BAN_STANDS, showActs } from './acts.ts'
import { showUserFacts } from './user-facts.ts'
import { USERS_PATH } from './users.ts'

/** One user, with what an operator can do for them. */
export function addUserRoute(app: App, dashboard: AccountsDashboard): void {
  const { database, now } = dashboard

  app.get(`${USERS_PATH}/:id`, async (c) => {
    const user = await operator(database).findUserDetails(c.req.param('id'))
    if (user === null) return showNotFound(c)
    return showPage(c, {
      title: isolatedText(nameOf(user)),
      notice: takeDone(dashboard, c, user.banned_at === null ? DONE : DONE_WHILE_BANNED),
      body: html`${await showUserFacts(dashboard, user)}
<section><h2>Help or end access</h2>${showActs(c, user)}</section>
${await showEvents(database, user.id, now())}
<p><a href="${USERS_PATH}">Back to the users</a></p>`,
    })
  })
}

const DONE = {
  disable: 'The account is disabled. Its keys get a 401, and its sessions have ended.',
  enable: 'The account is enabled. Its keys work again, and the user can sign in.',
  'sign-out': 'The user is signed out everywhere.',
}

const DONE_WHILE_BANNED = { ...DONE, enable: `The account is enabled. ${BAN_STANDS}` }
