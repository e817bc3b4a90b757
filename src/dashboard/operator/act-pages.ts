import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { requireConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { nameOf } from '../../accounts/user.ts'
import { operator, type UserDetails } from '../../directory/records/operator.ts'
import { actorOf, type App, type Context } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { OPERATOR_ACTS, type OperatorAct, OWN_ACCOUNT } from './acts.ts'
import { USERS_PATH } from './users.ts'

/** A page that asks for each act, and the form on it. */
export function addActRoutes(app: App, dashboard: AccountsDashboard): void {
  const find = (c: Context) => operator(dashboard.database).findUserDetails(c.req.param('id') ?? '')

  for (const act of OPERATOR_ACTS) {
    const path = `${USERS_PATH}/:id/${act.path}`

    app.use(path, async (c, next) => {
      const user = await find(c)
      if (user === null) return showNotFound(c)
      const isOwn = user.id === c.get('session').userId
      const refusal = isOwn ? OWN_ACCOUNT : act.refusal(dashboard, user)
      return refusal === null ? next() : refuse(c, act, user, refusal)
    })

    app.get(path, async (c) => {
      const user = await find(c)
      return user === null ? showNotFound(c) : ask(dashboard, c, act, user)
    })

    const confirm = requireConfirmation(dashboard, act.purpose, act.confirmed)
    app.post(path, confirm, async (c) => {
      const user = await find(c)
      // The right may have ended while the service checked the password.
      if (user === null || !c.get('isOperator')) return showNotFound(c)
      const actor = { ...actorOf(dashboard, c), operatorId: c.get('session').userId }
      return act.run(dashboard, c, user, actor)
    })
  }
}

function refuse(
  c: Context,
  { title }: OperatorAct,
  { id }: UserDetails,
  refusal: Html,
): Promise<Response> {
  return showPage(c, {
    title,
    status: 409,
    width: 'form',
    body: html`<section class="card"><p>Nothing was changed. ${refusal}</p>
<p><a class="button" href="${USERS_PATH}/${id}">Back to the account</a></p></section>`,
  })
}

function ask(
  dashboard: AccountsDashboard,
  c: Context,
  act: OperatorAct,
  user: UserDetails,
): Promise<Response> {
  return showPage(c, {
    title: act.title,
    width: 'form',
    body: html`<form class="card" method="post" action="${c.req.path}">
<p><strong>${act.asks} ${isolated(nameOf(user))}?</strong></p>
${act.consequences(dashboard, user).map((one) => html`<p>${one}</p>`)}
<div class="row"><button class="${act.isDanger ? 'danger' : 'primary'}">${act.button}</button>
<a class="button" href="${USERS_PATH}/${user.id}">Cancel</a></div>
</form>`,
  })
}
