import type { MiddlewareHandler } from 'hono'
import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { requireConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { disabledUsers } from '../../accounts/records/disabled-users.ts'
import { isOperatorAccount, sessions } from '../../accounts/records/sessions.ts'
import { LINK_HOURS } from '../../accounts/sign-in-links.ts'
import { hasAccess, nameOf } from '../../accounts/user.ts'
import { operator, type UserDetails } from '../../directory/records/operator.ts'
import type { Actor } from '../../model/audit.ts'
import { countOf } from '../../model/text.ts'
import { actorOf, type App, type Context, type Env } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { showQuestion } from '../../web/html/question.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { showLink } from './made-link.ts'
import { USERS_PATH } from './users.ts'

/** What an operator can do to another user's account, by the last part of the page's path. */
const ACTS = {
  link: 'create a sign-in link for',
  'sign-out': 'end all sessions of',
  disable: 'disable the account',
  enable: 'enable the account',
} as const

type Act = keyof typeof ACTS

/** Without the word that leads to the user's name. */
const purposeOf = (act: Act) => ACTS[act].replace(/ (for|of)$/, '')
const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const title = (act: Act) => upperFirst(purposeOf(act))

/** The links to the pages of the acts. */
export function showActs(c: Context, user: UserDetails): Html {
  if (user.id === c.get('session').userId) return html`<p>${OWN_ACCOUNT}</p>`
  const acts = (Object.keys(ACTS) as Act[]).filter(
    (act) =>
      act === (user.disabled_at === null ? 'disable' : 'enable') ||
      (hasAccess(user) && (act === 'link' || act === 'sign-out')),
  )
  return html`<div class="row">${acts.map((act) => showAction({ href: `${USERS_PATH}/${user.id}/${act}`, label: `${title(act)}…` }))}</div>`
}

/** A page that asks for each act, and the form on it. */
export function addActRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database } = dashboard

  add('link', async (c, user, actor) => showLink(dashboard, c, user, actor))
  add('sign-out', async (c, { id }, actor) => {
    await sessions(database).endSessions(id, actor, 'sessions ended')
    return toUser(c, id, 'sign-out')
  })
  // The next page says the same if another tab has done it, and is a 404 if the user is gone.
  add('disable', async (c, { id }, actor) => {
    await disabledUsers(database).setDisabled(id, true, actor)
    return toUser(c, id, 'disable')
  })
  add('enable', async (c, { id }, actor) => {
    await disabledUsers(database).setDisabled(id, false, actor)
    return toUser(c, id, 'enable')
  })

  function add(
    act: Act,
    run: (c: Context, user: UserDetails, actor: Actor) => Promise<Response>,
  ): void {
    const path = `${USERS_PATH}/:id/${act}`

    /** The user of the path, or the answer that nothing is done to this account. */
    async function find(c: Context): Promise<UserDetails | Response> {
      const user = await operator(database).findUserDetails(c.req.param('id') ?? '')
      if (user === null || !c.get('isOperator')) return showNotFound(c)
      const isOwn = user.id === c.get('session').userId
      const refusal = isOwn
        ? OWN_ACCOUNT
        : act === 'link'
          ? await refuseLink(dashboard, user)
          : null
      return refusal === null ? user : refuse(c, act, user, refusal)
    }

    const check: MiddlewareHandler<Env> = async (c, next) => {
      const found = await find(c)
      return found instanceof Response ? found : next()
    }
    const from = act === 'link' ? 'each time' : 'not fresh'
    const confirm = requireConfirmation(dashboard, purposeOf(act), from)
    app.get(path, async (c) => {
      const found = await find(c)
      return found instanceof Response ? found : ask(dashboard, c, act, found)
    })
    app.post(path, check, confirm, async (c) => {
      // Either user may have won or lost a right while the service checked the password.
      const found = await find(c)
      if (found instanceof Response) return found
      return run(c, found, { ...actorOf(dashboard, c), operatorId: c.get('session').userId })
    })
  }

  function toUser(c: Context, id: string, done: Act): Response {
    tellNext(dashboard, c, done)
    return c.redirect(`${USERS_PATH}/${id}`, 303)
  }
}

function refuse(c: Context, act: Act, { id }: UserDetails, refusal: Html): Promise<Response> {
  return showPage(c, {
    title: title(act),
    status: 409,
    width: 'form',
    body: html`<section class="card"><p>Nothing was changed. ${refusal}</p>
<p><a class="button" href="${USERS_PATH}/${id}">Back to the account</a></p></section>`,
  })
}

function ask(
  dashboard: AccountsDashboard,
  c: Context,
  act: Act,
  user: UserDetails,
): Promise<Response> {
  return showQuestion(c, {
    title: title(act),
    asks: html`${upperFirst(ACTS[act])} ${isolated(nameOf(user))}?`,
    consequences: consequencesOf(dashboard, act, user),
    button: title(act),
    isHarmless: act === 'link' || act === 'enable',
    back: `${USERS_PATH}/${user.id}`,
  })
}

function consequencesOf(
  { passwords, oidc }: AccountsDashboard,
  act: Act,
  user: UserDetails,
): (Html | string | false)[] {
  if (act === 'sign-out')
    return [
      'Every browser of this user has to sign in again. The password and the keys stay as they are.',
    ]
  if (act === 'enable')
    return [
      user.banned_at === null
        ? 'The user can sign in again, and the user’s keys and public pages work again.'
        : BAN_STANDS,
    ]
  if (act === 'disable')
    return [
      'The user is signed out and can’t sign in. The API answers a 401 for each of the user’s keys, at once. Public pages of the user’s servers disappear.',
      'Nothing is deleted and no key is revoked: enabling the account brings all of it back.',
    ]
  const isFirst = user.passwords === 0
  return [
    passwords
      ? `The person who opens the link sets ${isFirst ? 'a password, which the account does not have yet,' : 'a new password'} and is signed in. All other sessions of the account end then.`
      : 'The person who opens the link is signed in for one session. It sets no password.',
    passwords &&
      oidc !== null &&
      isFirst &&
      html`Once the account has a password, a first sign-in with ${isolated(oidc.name)} no longer finds it by its address.`,
    `It works once, within ${countOf(LINK_HOURS, 'hour')}. Earlier links of this user stop working now.`,
    'Make sure that the person who asks is the owner of the account.',
  ]
}

const OWN_ACCOUNT = html`This is your own account. You can’t disable it or make a link for it here: another operator can disable it, and <code>server-listing user link</code> makes a link. <a href="/dashboard/account">Your account page</a> ends your sessions.`

export const BAN_STANDS =
  'The site’s ban stands: the keys get a 401, and the user can’t sign in, until the site lifts it.'

/** Why the user gets no link now. Null if the user can have one. */
async function refuseLink(
  { database, operators, now }: AccountsDashboard,
  user: UserDetails,
): Promise<Html | null> {
  if (user.disabled_at !== null)
    return html`This account is disabled, so no one can sign in to it. Enable it first.`
  if (user.banned_at !== null) return html`${BAN_STANDS}`
  if (user.email === null)
    return html`This account has no email address, which a sign-in link needs. Its user signs in with the website or identity provider. <code>server-listing user email</code> adds an address.`
  return (await isOperatorAccount(database, user, operators, now()))
    ? html`This is the account of an operator. A link would let you act in that person’s name, so only <code>server-listing user link</code> makes one.`
    : null
}
