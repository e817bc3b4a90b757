import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import type { AskedFrom } from '../../accounts/pages/sign-in/confirmation.ts'
import { disabledUsers } from '../../accounts/records/disabled-users.ts'
import { sessions } from '../../accounts/records/sessions.ts'
import { LINK_HOURS } from '../../accounts/sign-in-links.ts'
import { listedEmailOf } from '../../accounts/user.ts'
import type { UserDetails } from '../../directory/records/operator.ts'
import type { Actor } from '../../model/audit.ts'
import type { Context } from '../../web/context.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { countOf } from '../../model/text.ts'
import { makeLink } from './made-link.ts'
import { USERS_PATH } from './users.ts'

/** What an operator can do to another user's account. */
export interface OperatorAct {
  /** The last part of the path of its page. */
  path: string
  /** The link to that page. */
  label: string
  title: string
  /** Stands before the user's name and a question mark. */
  asks: string
  button: string
  isDanger: boolean
  /** Follows "Enter your password to". */
  purpose: string
  confirmed: AskedFrom
  /** Whether the user's page offers it. */
  isFor(user: UserDetails): boolean
  /** Why it can't be done now. Null if it can. */
  refusal(dashboard: AccountsDashboard, user: UserDetails): Html | null
  consequences(dashboard: AccountsDashboard, user: UserDetails): readonly (Html | string)[]
  run(dashboard: AccountsDashboard, c: Context, user: UserDetails, actor: Actor): Promise<Response>
}

export const OWN_ACCOUNT = html`This is your own account. You can’t disable it or make a link for it here: another operator can disable it, and <code>server-listing user link</code> makes a link. <a href="/dashboard/account">Your account page</a> ends your sessions.`

const DISABLED = html`This account is disabled, so no one can sign in to it. Enable it first.`
const NO_ADDRESS = html`This account has no email address, which a sign-in link needs. Its user signs in with the website or identity provider. <code>server-listing user email</code> adds an address.`
const OF_OPERATOR = html`This is the account of an operator. A link would let you act in that person’s name, so only <code>server-listing user link</code> makes one.`

const LINK: OperatorAct = {
  path: 'link',
  label: 'Create a sign-in link…',
  title: 'Create a sign-in link',
  asks: 'Create a sign-in link for',
  button: 'Create link',
  isDanger: false,
  purpose: 'create a sign-in link',
  confirmed: 'each time',
  isFor: ({ disabled_at }) => disabled_at === null,
  refusal(dashboard, user) {
    if (user.disabled_at !== null) return DISABLED
    if (user.email === null) return NO_ADDRESS
    return isOperator(dashboard, user) ? OF_OPERATOR : null
  },
  consequences: ({ passwords, oidc }, user) => [
    passwords
      ? `The person who opens the link sets ${user.passwords === 0 ? 'a password, which the account does not have yet,' : 'a new password'} and is signed in. All other sessions of the account end then.`
      : 'The person who opens the link is signed in for one session. It sets no password.',
    ...(passwords && oidc !== null && user.passwords === 0
      ? [
          html`Once the account has a password, a first sign-in with ${isolated(oidc.name)} no longer finds it by its address.`,
        ]
      : []),
    `It works once, within ${countOf(LINK_HOURS, 'hour')}. Earlier links of this user stop working now.`,
    'Make sure that the person who asks is the owner of the account.',
  ],
  run: makeLink,
}

const DISABLE: OperatorAct = {
  path: 'disable',
  label: 'Disable…',
  title: 'Disable an account',
  asks: 'Disable',
  button: 'Disable account',
  isDanger: true,
  purpose: 'disable the account',
  confirmed: 'not fresh',
  isFor: ({ disabled_at }) => disabled_at === null,
  refusal: () => null,
  consequences: () => [
    'The user is signed out and can’t sign in. The API answers a 401 for each of the user’s keys, at once. Public pages of the user’s servers disappear.',
    'Nothing is deleted and no key is revoked: enabling the account brings all of it back.',
  ],
  run: (dashboard, c, user, actor) => setDisabled(dashboard, c, user, actor, true),
}

const ENABLE: OperatorAct = {
  path: 'enable',
  label: 'Enable…',
  title: 'Enable an account',
  asks: 'Enable',
  button: 'Enable account',
  isDanger: false,
  purpose: 'enable the account',
  confirmed: 'not fresh',
  isFor: ({ disabled_at }) => disabled_at !== null,
  refusal: () => null,
  consequences: () => [
    'The user can sign in again, and the user’s keys and public pages work again.',
  ],
  run: (dashboard, c, user, actor) => setDisabled(dashboard, c, user, actor, false),
}

const END_SESSIONS: OperatorAct = {
  path: 'sign-out',
  label: 'End all sessions…',
  title: 'End all sessions',
  asks: 'End all sessions of',
  button: 'End all sessions',
  isDanger: true,
  purpose: 'end the sessions',
  confirmed: 'not fresh',
  isFor: ({ disabled_at }) => disabled_at === null,
  refusal: () => null,
  consequences: () => [
    'Every browser of this user has to sign in again. The password and the keys stay as they are.',
  ],
  async run(dashboard, c, user, actor) {
    await sessions(dashboard.database).endSessionsOfUser(user.id, actor)
    return toUser(dashboard, c, user, 'sessions-ended')
  },
}

export const OPERATOR_ACTS: readonly OperatorAct[] = [LINK, END_SESSIONS, DISABLE, ENABLE]

export function pathOfAct(userId: string, { path }: OperatorAct): string {
  return `${USERS_PATH}/${userId}/${path}`
}

/** Named by OPERATORS, or with a session that has an operator's right from the provider. */
function isOperator({ operators, now }: AccountsDashboard, user: UserDetails): boolean {
  const email = listedEmailOf(user)
  const until = user.operator_until
  return (email !== null && operators.includes(email)) || (until !== null && now() < until)
}

async function setDisabled(
  dashboard: AccountsDashboard,
  c: Context,
  user: UserDetails,
  actor: Actor,
  isDisabled: boolean,
): Promise<Response> {
  await disabledUsers(dashboard.database).setDisabled(user.id, isDisabled, actor)
  return toUser(dashboard, c, user, isDisabled ? 'user-disabled' : 'user-enabled')
}

/** The page says the same if another tab has done it, and 404 if the user is gone. */
function toUser(dashboard: AccountsDashboard, c: Context, { id }: UserDetails, outcome: string) {
  tellNext(dashboard, c, outcome)
  return c.redirect(`${USERS_PATH}/${id}`, 303)
}
