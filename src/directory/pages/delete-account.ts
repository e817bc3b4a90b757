import { html } from 'hono/html'
import { DELETE_PATH } from '../../accounts/pages/account.ts'
import { isManaged, refuseManaged } from '../../accounts/pages/managed.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { requireConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { AUDIT_KEPT_US } from '../../model/audit.ts'
import { DAY_US } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import {
  actorOf,
  type App,
  type Context,
  cookieOf,
  fieldOf,
  withCookies,
} from '../../web/context.ts'
import { showField } from '../../web/html/form-field.ts'
import { type Notice, showNotice, showPage } from '../../web/html/page.ts'
import { showQuestion } from '../../web/html/question.ts'
import { showSite } from '../../web/html/site.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { type Belongings, inventory } from '../records/inventory.ts'
import { removeUser } from '../records/removed-user.ts'

/** Removes the user's own account, as `user remove` does. */
export function addDeleteAccountRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts } = dashboard

  app.use(DELETE_PATH, async (c, next) => (isManaged(c.get('session')) ? refuseManaged(c) : next()))

  app.get(DELETE_PATH, (c) => askToDelete(dashboard, c))

  app.post(DELETE_PATH, requireConfirmation(dashboard, 'delete your account'), async (c) => {
    const session = c.get('session')
    if (fieldOf(c, 'confirmation').trim().toLowerCase() !== session.name.toLowerCase())
      return askToDelete(dashboard, c, `Type ${session.name} to confirm.`)
    const actor = actorOf(dashboard, c)
    const belongings = await inventory(database).countBelongings(session.userId)
    await removeUser(database, session.userId, actor)
    // The sessions are gone. This removes the cookie.
    const cookies = await bestEffort(dashboard, () => accounts.signOut(cookieOf(c), actor), [])
    return withCookies(await showDeleted(c, session.name, belongings), cookies)
  })
}

async function askToDelete(
  dashboard: AccountsDashboard,
  c: Context,
  error?: string,
): Promise<Response> {
  const { database, site } = dashboard
  const session = c.get('session')
  const belongings = await inventory(database).countBelongings(session.userId)
  return showQuestion(c, {
    title: 'Delete your account',
    status: error === undefined ? 200 : 422,
    asks: html`Delete the account ${isolated(session.name)} with everything in it?`,
    more: html`${showBelongings(belongings)}
<p>You can’t undo this.${site.managesServers ? html` It changes nothing at ${showSite(site)}.` : ''}</p>
<p class="hint">The audit log keeps what was done in the account, and from which address, for up to ${AUDIT_KEPT_US / DAY_US} days. Older backups keep the account.</p>
${c.get('isListed') ? showNotice(OPERATOR_GOES) : ''}
${showField({
  name: 'confirmation',
  label: html`Type ${isolated(session.name)} to confirm`,
  required: true,
  isCode: true,
  error,
})}`,
    button: 'Delete account',
    back: '/dashboard/account',
  })
}

const OPERATOR_GOES: Notice = {
  kind: 'note',
  text: 'OPERATORS lists your address. Afterwards it has no account, and only the operator’s command “user add” can create one with it again.',
}

function showDeleted(c: Context, name: string, belongings: Belongings): Promise<Response> {
  return showPage(c, {
    title: 'Account deleted',
    width: 'form',
    isForVisitor: true,
    body: html`<p>The account ${isolated(name)} was deleted, and you are signed out.</p>
${showBelongings(belongings)}
<p><a href="/sign-in">Sign in with another account</a></p>`,
  })
}

/** What goes with the account, and what others get of it. */
function showBelongings(belongings: Belongings): Html {
  const { api_keys, servers, kept_servers, organizations } = belongings
  const { returned_servers, inherited_organizations } = belongings
  const items = [
    api_keys > 0 &&
      `${countOf(api_keys, 'active key')}, revoked for good: programs get a 401 at once`,
    servers > 0 && countOf(servers, 'server'),
    kept_servers > 0 &&
      `${countOf(kept_servers, 'server')} in organizations, which stay there: the oldest owner gets them`,
    organizations > 0 && `${countOf(organizations, 'organization')} without another member`,
    returned_servers > 0 &&
      `${countOf(returned_servers, 'server')} of former members in there, which become their personal drafts`,
    inherited_organizations > 0 &&
      `${countOf(inherited_organizations, 'organization')} without another owner, whose oldest other member becomes the owner`,
  ].filter((item) => item !== false)
  if (items.length === 0)
    return html`<p>It has no keys, no servers and no organization of its own.</p>`
  return html`<div class="prose"><ul>${items.map((item) => html`<li>${item}</li>`)}</ul></div>`
}
