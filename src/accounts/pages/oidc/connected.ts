import { html } from 'hono/html'
import type { Identity } from '../../identity.ts'
import { identities } from '../../records/identities.ts'
import type { Oidc } from '../../sign-in/oidc/oidc.ts'
import { actorOf, type App, type Context, fieldOf, withCookies } from '../../../web/context.ts'
import { showPage } from '../../../web/html/page.ts'
import { type Html, isolated, isolatedText } from '../../../web/html/text.ts'
import { tellNext } from '../../../web/request/next-notice.ts'
import type { AccountsDashboard } from '../sign-in/attempts.ts'
import { requireConfirmation } from '../sign-in/confirmation.ts'
import { guarded, showRefusal } from './refusals.ts'

const ACCOUNT = '/dashboard/account'

/** Connects a sign-in to the user's account, or removes the one that the form names. */
export function addConnectedRoutes(app: App, dashboard: AccountsDashboard, oidc: Oidc): void {
  const confirm = requireConfirmation(dashboard, 'change your sign-ins')
  app.post('/dashboard/account/sign-ins', confirm, async (c) => {
    const removed = fieldOf(c, 'remove')
    if (removed !== '') return remove(dashboard, c, oidc, removed)
    return guarded(dashboard, c, oidc, async () => {
      const { url, cookie } = await oidc.begin('connect', c.get('session').id, ACCOUNT)
      return withCookies(await showWay(c, oidc, url), [cookie])
    })
  })
}

async function remove(
  dashboard: AccountsDashboard,
  c: Context,
  { issuer, name }: Oidc,
  removed: string,
): Promise<Response> {
  const ways = { issuer, passwords: dashboard.passwords }
  const outcome = await identities(dashboard.database).remove(
    c.get('session'),
    parse(removed),
    ways,
    actorOf(dashboard, c),
  )
  if (outcome === 'last') return showRefusal(c, name, 'last sign-in', ACCOUNT)
  // Another tab may have removed it before.
  tellNext(dashboard, c, 'sign-in-removed')
  return c.redirect(ACCOUNT, 303)
}

/** A form can't lead to another site under our content security policy, so a link does. */
function showWay(c: Context, { name }: Oidc, url: string): Promise<Response> {
  return showPage(c, {
    title: 'Connect a sign-in',
    width: 'form',
    body: html`<p>Sign in with ${isolated(name)}. From then on you can sign in here with that account.</p>
<div class="row"><a class="button primary" href="${url}">Go to ${isolatedText(name)}</a>
<a class="button" href="${ACCOUNT}">Cancel</a></div>`,
  })
}

/** The part of the account page about it. */
export async function showConnected(
  dashboard: AccountsDashboard,
  c: Context,
  oidc: Oidc,
): Promise<Html> {
  const own = await identities(dashboard.database).listIdentities(c.get('session').userId)
  const isConnected = own.some(({ issuer }) => issuer === oidc.issuer)
  return html`<section class="split" id="connected"><div><h2>Connected sign-ins</h2>
<p class="hint">Accounts elsewhere with which you can sign in here. If you remove one, all your other sessions end.</p></div>
<form class="card" method="post" action="/dashboard/account/sign-ins">
${own.length === 0 ? '' : html`<ul class="rows">${own.map((one, index) => showIdentity(one, index, oidc))}</ul>`}
${isConnected ? '' : html`<button>Connect ${isolatedText(oidc.name)}</button>`}
</form></section>`
}

function showIdentity(identity: Identity, index: number, oidc: Oidc): Html {
  const { issuer, subject } = identity
  const name = issuer === oidc.issuer ? oidc.name : issuer
  return html`<li><div><strong id="i${index}">${isolated(name)}</strong>
<p><code id="u${index}">${isolated(subject)}</code></p></div>
<button class="quiet" name="remove" value="${format(identity)}" id="r${index}" aria-labelledby="r${index} i${index} u${index}">Remove</button></li>`
}

/** An issuer is a URL, so it has no space. */
const format = ({ issuer, subject }: Identity): string => `${issuer} ${subject}`

function parse(text: string): Identity {
  const [issuer = '', ...rest] = text.split(' ')
  return { issuer, subject: rest.join(' ') }
}
