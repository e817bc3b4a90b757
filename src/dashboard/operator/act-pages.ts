import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { askToSignIn } from '../../accounts/pages/session.ts'
import {
  confirmUser,
  neededConfirmation,
  showConfirmation,
} from '../../accounts/pages/sign-in/confirmation.ts'
import { nameOf } from '../../accounts/user.ts'
import { operator, type UserDetails } from '../../directory/records/operator.ts'
import { actorOf, type App, type Context, cookieOf, setSession } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { isolated } from '../../web/html/text.ts'
import { OPERATOR_ACTS, type OperatorAct, OWN_ACCOUNT } from './acts.ts'
import { USERS_PATH } from './users.ts'

/** A page that asks for each act, and the form on it. Each asks again who the operator is. */
export function addActRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts } = dashboard
  for (const act of OPERATOR_ACTS) {
    const path = `${USERS_PATH}/:id/${act.path}`

    app.get(path, async (c) => {
      const user = await operator(database).findUserDetails(c.req.param('id') ?? '')
      return user === null ? showNotFound(c) : ask(dashboard, c, act, user)
    })

    app.post(path, async (c) => {
      const user = await operator(database).findUserDetails(c.req.param('id') ?? '')
      if (user === null) return showNotFound(c)
      if (refusalOf(dashboard, c, act, user) !== null) return ask(dashboard, c, act, user)
      const refused = await confirmUser(dashboard, c, act.purpose, act.confirmed)
      if (refused !== null) return ask(dashboard, c, act, user, refused)
      // The session or its right may have ended while the service checked the password.
      const session = await accounts.readSession(cookieOf(c))
      if (session === null) return askToSignIn(dashboard, c)
      setSession(dashboard, c, session)
      if (!c.get('isOperator')) return showNotFound(c)
      const actor = { ...actorOf(dashboard, c), operatorId: session.userId }
      return act.run(dashboard, c, user, actor)
    })
  }
}

function refusalOf(dashboard: AccountsDashboard, c: Context, act: OperatorAct, user: UserDetails) {
  return user.id === c.get('session').userId ? OWN_ACCOUNT : act.refusal(dashboard, user)
}

async function ask(
  dashboard: AccountsDashboard,
  c: Context,
  act: OperatorAct,
  user: UserDetails,
  refused?: { status: 403 | 429; message: string },
): Promise<Response> {
  const back = `${USERS_PATH}/${user.id}`
  const refusal = refusalOf(dashboard, c, act, user)
  if (refusal !== null)
    return showPage(c, {
      title: act.title,
      status: 409,
      width: 'form',
      body: html`<section class="card"><p>Nothing was changed. ${refusal}</p>
<p><a class="button" href="${back}">Back to the account</a></p></section>`,
    })
  const needed = await neededConfirmation(dashboard, c, act.confirmed)
  return showPage(c, {
    title: act.title,
    status: refused?.status ?? 200,
    width: 'form',
    body: html`<form class="card" method="post" action="${c.req.path}">
<p><strong>${act.asks} ${isolated(nameOf(user))}?</strong></p>
${act.consequences(dashboard, user).map((one) => html`<p>${one}</p>`)}
${showConfirmation(c, needed, c.req.path, refused?.message)}
<div class="row"><button class="${act.isDanger ? 'danger' : 'primary'}">${act.button}</button>
<a class="button" href="${back}">Cancel</a></div>
</form>`,
  })
}
