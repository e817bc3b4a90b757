import { html } from 'hono/html'
import { quote } from '../../../model/text.ts'
import { actorOf, type Dashboard, type Context } from '../../../web/context.ts'
import { type Page, showPage } from '../../../web/html/page.ts'
import { type Html, isolated, isolatedText } from '../../../web/html/text.ts'
import { bestEffort } from '../../../web/request/best-effort.ts'
import { readReturnPath } from '../return-path.ts'
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
    c.header('Retry-After', '10')
    return showRefusal(c, name, 'fault', SIGN_IN)
  }
}

/** The page for a browser that came back, if nothing was done. The operator can read why. */
export async function refuse(
  dashboard: Dashboard,
  c: Context,
  { issuer, name }: Oidc,
  refusal: Refusal,
  { flow, identity, userId }: Finished,
): Promise<Response> {
  if (refusal === 'error') dashboard.onFault(warningOf('SignInError', sayError(c, issuer)))
  if (identity !== null) {
    const subject = quote(identity.subject)
    dashboard.onFault(warningOf('SignInRefused', `${refusal}: the subject ${subject} of ${issuer}`))
    const actor = actorOf(dashboard, c)
    const note = () => identities(dashboard.database).noteRefusal(identity, refusal, userId, actor)
    await bestEffort(dashboard, note, undefined)
  }
  const isSignIn = flow === null || flow.purpose === 'sign-in'
  return showRefusal(c, name, refusal, isSignIn ? SIGN_IN : readReturnPath(flow.next))
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

const SIGN_IN = '/sign-in?auto=0'

interface Words {
  title: string
  status: NonNullable<Page['status']>
  text: (provider: Html) => Html
}

/** The page for what was not done, with the way on. */
export function showRefusal(
  c: Context,
  name: string,
  refusal: keyof typeof WORDS,
  back: string,
): Promise<Response> {
  const { title, status, text } = WORDS[refusal]
  return showPage(c, {
    title: title.replace('*', isolatedText(name)),
    status,
    width: 'form',
    body: html`<p>${text(isolated(name))} Nothing was changed.</p>
<p><a href="${back}">${back === SIGN_IN ? 'Go to the sign-in page' : 'Go back'}</a></p>`,
  })
}

const START_AGAIN: Words = {
  title: 'Start again',
  status: 400,
  text: (provider) =>
    html`This answer from ${provider} does not belong to a sign-in that this browser has under way. It may be old, or you began another one in a second tab.`,
}
const NOT_SIGNED_IN: Words = {
  title: 'Not signed in',
  status: 403,
  text: (provider) =>
    html`${provider} sent you back and did not say who you are. Try again. If you wanted to confirm that it is you, ${signInAnew(provider)} If this page comes again, tell the operator of this service.`,
}
/** No page tells which addresses are those of operators. */
const NO_ACCOUNT: Words = {
  title: 'No account',
  status: 403,
  text: (provider) =>
    html`You are signed in at ${provider}, but you have no account here. An account is found by an email address that ${provider} has verified. If you need one, ask the operator of this service.`,
}
const DISABLED: Words = {
  title: 'Account disabled',
  status: 403,
  text: () => html`Your account here is disabled. Ask the operator of this service about it.`,
}
const BANNED: Words = {
  title: 'Account banned',
  status: 403,
  text: () => html`The site has banned your account. Ask the site about it.`,
}
const CONNECT_FIRST: Words = {
  title: 'Connect your account first',
  status: 409,
  text: (provider) =>
    html`Your address at ${provider} belongs to an account here that has another way to sign in. Sign in that way, or ask the operator for a sign-in link. Then connect ${provider} on the account page. If the account is not yours, tell the operator.`,
}

const notAccepted = (text: Words['text']): Words => ({
  title: 'Sign-in not accepted',
  status: 403,
  text,
})

const WORDS: Record<Refusal | 'fault' | 'last sign-in', Words> = {
  fault: {
    title: '* can’t be used',
    status: 503,
    text: (provider) =>
      html`${provider} does not answer as it should, or does not fit the settings of this service. Wait a moment and try again. If this page comes again, tell the operator of this service.`,
  },
  outdated: START_AGAIN,
  refused: NOT_SIGNED_IN,
  error: NOT_SIGNED_IN,
  'no account': NO_ACCOUNT,
  'address missing': NO_ACCOUNT,
  'address not verified': NO_ACCOUNT,
  'address not usable': NO_ACCOUNT,
  'address of an operator': NO_ACCOUNT,
  'account disabled': DISABLED,
  'account banned': BANNED,
  'account has another sign-in': CONNECT_FIRST,
  'session ended': notAccepted(
    () => html`Your session has ended, or you signed in again meanwhile. Go back and try again.`,
  ),
  'another account': notAccepted(
    (provider) =>
      html`The account at ${provider} with which you signed in is not connected to your account here, or is connected to another one.`,
  ),
  'not asked again': notAccepted(
    (provider) =>
      html`${provider} did not ask you to sign in again, so this service can’t be sure that it is you. To confirm, ${signInAnew(provider)}`,
  ),
  'too many sign-ins': notAccepted(
    (provider) =>
      html`Your account is connected to another account at ${provider}. Remove that one first.`,
  ),
  'last sign-in': {
    title: 'Sign-in not removed',
    status: 409,
    text: () => html`This sign-in stays, because it is your last way to sign in.`,
  },
}
