import { html } from 'hono/html'
import { quote } from '../../../model/text.ts'
import { actorOf, type Dashboard, type Context } from '../../../web/context.ts'
import { type Page, showPage } from '../../../web/html/page.ts'
import { type Html, isolated, isolatedText } from '../../../web/html/text.ts'
import { bestEffort } from '../../../web/request/best-effort.ts'
import { readReturnPath } from '../return-path.ts'
import { IDENTITIES_MAX } from '../../identity.ts'
import { identities } from '../../records/identities.ts'
import type { Finished, Oidc, Refusal } from '../../sign-in/oidc/oidc.ts'
import { ProviderFault } from '../../sign-in/oidc/provider-fault.ts'
import { signInAnew } from '../sign-in/confirmation.ts'

/** Runs a step that needs the provider. If the provider fails, the page says so. */
export async function guarded(
  { onFault }: Dashboard,
  c: Context,
  { name }: Oidc,
  step: () => Promise<Response>,
): Promise<Response> {
  try {
    return await step()
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault
    onFault(fault)
    return showFault(c, name, fault)
  }
}

/** The page for a browser that came back, if nothing was done. The operator can read why, too. */
export async function refuse(
  dashboard: Dashboard,
  c: Context,
  { issuer, name }: Oidc,
  refusal: Refusal,
  { flow, identity, userId }: Finished,
): Promise<Response> {
  if (refusal === 'error') dashboard.onFault(warningOf('SignInError', sayError(c, issuer)))
  // A user who connects the same sign-in twice is refused nothing.
  if (identity !== null && refusal !== 'already connected') {
    const subject = quote(identity.subject)
    dashboard.onFault(warningOf('SignInRefused', `${refusal}: the subject ${subject} of ${issuer}`))
    const actor = actorOf(dashboard, c)
    const note = () => identities(dashboard.database).noteRefusal(identity, refusal, userId, actor)
    await bestEffort(dashboard, note, undefined)
  }
  const { title = 'Nothing was changed', status = 403, text } = WORDS[refusal]
  const isSignIn = flow === null || flow.purpose === 'sign-in'
  const link = isSignIn
    ? html`<a href="/sign-in?auto=0">Go to the sign-in page</a>`
    : html`<a href="${readReturnPath(flow.next)}">Go back</a>`
  return showPage(c, {
    title,
    status,
    width: 'form',
    body: html`<p>${text(isolated(name))}</p><p>${link}</p>`,
  })
}

/** For the log: neither the service nor the provider is at fault. */
function warningOf(name: 'SignInError' | 'SignInRefused', message: string): Error {
  return Object.assign(new Error(message), { name, isWarning: true })
}

/** Any visitor can type the query of the address, so it says nothing about the settings. */
function sayError(c: Context, issuer: string): string {
  const code = /^\w{1,60}$/.exec(c.req.query('error') ?? '')?.[0] ?? 'no valid code'
  return `a browser brought the error ${code} in its address, as if from ${issuer}`
}

/** The page while the provider can't be used. */
function showFault(c: Context, name: string, { reason }: ProviderFault): Promise<Response> {
  c.header('Retry-After', '10')
  const isDown = reason === 'answer'
  return showPage(c, {
    title: `${isolatedText(name)} can’t be ${isDown ? 'reached' : 'used'}`,
    status: 503,
    width: 'form',
    body: html`<p>You could not be signed in, because ${WHY[reason](isolated(name))}. Nothing was changed. ${isDown ? 'Wait a moment and try again' : 'Tell the operator of this service'}.</p>
<p><a href="/sign-in?auto=0">Go to the sign-in page</a></p>`,
  })
}

const WHY: Record<ProviderFault['reason'], (name: Html) => Html> = {
  answer: (name) => html`${name} does not answer as it should`,
  clock: (name) => html`the clocks of this service and of ${name} differ`,
  settings: (name) => html`the settings of this service do not fit ${name}`,
}

interface Words {
  title?: string
  status?: NonNullable<Page['status']>
  text: (name: Html) => Html
}

/** `text` follows "You are signed in at …,". */
function noAccount(text: Words['text']): Words {
  return {
    title: 'No account',
    text: (name) =>
      html`You are signed in at ${name}, ${text(name)} If you need an account, ask the operator of this service.`,
  }
}

const NO_ACCOUNT = noAccount(() => html`but you have no account here.`)

const WORDS: Record<Refusal, Words> = {
  outdated: {
    title: 'Start again',
    status: 400,
    text: (name) =>
      html`This answer from ${name} does not belong to a sign-in that this browser has under way. It may be old, or you began another one in a second tab. Nothing was changed.`,
  },
  refused: {
    title: 'Not signed in',
    text: (name) =>
      html`${name} did not tell this service who you are, because you or ${name} refused. Nothing was changed.`,
  },
  error: {
    title: 'Not signed in',
    text: (name) =>
      html`${name} sent you back with an error. Nothing was changed. If you wanted to confirm that it is you, ${signInAnew(name)} If you wanted to sign in or to connect your account, try again. If the error comes again, tell the operator of this service.`,
  },
  'no account': NO_ACCOUNT,
  'address missing': noAccount(
    () =>
      html`which did not tell this service your email address. No account here is connected to yours there.`,
  ),
  'address not verified': noAccount(
    (name) =>
      html`which does not confirm that your email address is verified. So this service can’t find an account by it. Verify the address at ${name} and try again.`,
  ),
  'address not usable': noAccount(
    () =>
      html`but no account here can have your email address there: it is too long, or has characters other than ASCII.`,
  ),
  // No page tells which addresses are those of operators.
  'address of an operator': NO_ACCOUNT,
  'account disabled': {
    title: 'Account disabled',
    text: () => html`Your account here is disabled. Ask the operator of this service about it.`,
  },
  'account has another sign-in': {
    title: 'Connect your account first',
    status: 409,
    text: (name) =>
      html`Your address at ${name} belongs to an account here that has another way to sign in. Sign in that way, or ask the operator for a sign-in link. Then connect ${name} on the account page. If the account is not yours, tell the operator.`,
  },
  'session ended': {
    text: () =>
      html`Your session has ended, or you signed in again meanwhile. Go back and try again.`,
  },
  'another account': {
    text: (name) =>
      html`The account at ${name} with which you signed in is not connected to your account here, or is connected to another one.`,
  },
  'not asked again': {
    text: (name) =>
      html`${name} did not ask you to sign in again, so this service can’t be sure that it is you. To confirm, ${signInAnew(name)}`,
  },
  'already connected': {
    title: 'Already connected',
    status: 409,
    text: (name) =>
      html`This account at ${name} is connected to your account already. Nothing was changed.`,
  },
  'too many sign-ins': {
    status: 409,
    text: () =>
      html`You have ${IDENTITIES_MAX} connected sign-ins, the maximum. Remove one that you no longer use.`,
  },
}
