import { html } from 'hono/html'
import type { Dashboard, Context } from '../../../web/context.ts'
import { type Page, showPage } from '../../../web/html/page.ts'
import { type Html, isolated, isolatedText } from '../../../web/html/text.ts'
import { readReturnPath } from '../return-path.ts'
import { IDENTITIES_MAX } from '../../identity.ts'
import type { Finished, Oidc, Refusal } from '../../sign-in/oidc/oidc.ts'
import { ProviderFault } from '../../sign-in/oidc/provider-fault.ts'

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

/** The page for a browser that came back, if nothing was done. */
export function showRefusal(
  c: Context,
  name: string,
  refusal: Refusal,
  flow: Finished['flow'],
): Promise<Response> {
  const { title, status, text } = WORDS[refusal]
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

/** The page while the provider can't be used. */
function showFault(c: Context, name: string, { reason }: ProviderFault): Promise<Response> {
  c.header('Retry-After', '5')
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
  title: string
  status: NonNullable<Page['status']>
  text: (name: Html) => Html
}

const WORDS: Record<Refusal, Words> = {
  outdated: {
    title: 'Start again',
    status: 400,
    text: (name) =>
      html`This answer from ${name} does not belong to a sign-in that this browser has under way. It may be old, or you began another one in a second tab. Nothing was changed.`,
  },
  refused: {
    title: 'Not signed in',
    status: 403,
    text: (name) =>
      html`${name} did not tell this service who you are, because you or ${name} refused. Nothing was changed.`,
  },
  unknown: {
    title: 'No account',
    status: 403,
    text: (name) =>
      html`You are signed in at ${name}, but you have no account here. Ask the operator of this service for one.`,
  },
  taken: {
    title: 'Connect your account first',
    status: 409,
    text: (name) =>
      html`Your address at ${name} belongs to an account here that has another way to sign in. Sign in that way, or ask the operator for a sign-in link. Then connect ${name} on the account page.`,
  },
  ended: {
    title: 'Nothing was changed',
    status: 403,
    text: () =>
      html`Your session has ended, or you signed in again meanwhile. Go back and try again.`,
  },
  'other account': {
    title: 'Nothing was changed',
    status: 403,
    text: (name) =>
      html`The account at ${name} with which you signed in is not connected to your account here, or is connected to another one.`,
  },
  'not asked': {
    title: 'Nothing was changed',
    status: 403,
    text: (name) =>
      html`${name} did not ask you to sign in again, so this service can’t be sure that it is you. Sign out at ${name} and try again.`,
  },
  known: {
    title: 'Already connected',
    status: 409,
    text: (name) =>
      html`This account at ${name} is connected to your account already. Nothing was changed.`,
  },
  'too many': {
    title: 'Nothing was changed',
    status: 409,
    text: () =>
      html`You have ${IDENTITIES_MAX} connected sign-ins, the maximum. Remove one that you no longer use.`,
  },
}
