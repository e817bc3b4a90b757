import type { AccountsDashboard } from '../sign-in/attempts.ts'
import { type App, browserOf, type Context, cookieOf, withCookies } from '../../../web/context.ts'
import { CALLBACK_PATH } from '../../sign-in/oidc/discovery.ts'
import type { Oidc } from '../../sign-in/oidc/oidc.ts'
import { tellNext } from '../../../web/request/next-notice.ts'
import { readReturnPath } from '../return-path.ts'
import { addConnectedRoutes } from './connected.ts'
import { guarded, refuse } from './refusals.ts'

/**
 * The way to the identity provider and back. Links lead there, because browsers don't let a form
 * redirect to another site under our content security policy.
 */
export function addOidcRoutes(app: App, dashboard: AccountsDashboard, oidc: Oidc): void {
  const { accounts } = dashboard
  addConnectedRoutes(app, dashboard, oidc)

  const leave = (c: Context, purpose: 'sign-in' | 'confirm', sessionId: string | null) =>
    guarded(dashboard, c, oidc, async () => {
      const { url, cookie } = await oidc.begin(purpose, sessionId, nextOf(c))
      return withCookies(c.redirect(url, 303), [cookie])
    })

  app.get('/sign-in/oidc', async (c) => {
    const session = await accounts.readSession(cookieOf(c))
    return session === null ? leave(c, 'sign-in', null) : c.redirect(nextOf(c), 303)
  })

  app.get('/sign-in/oidc/confirm', async (c) => {
    const session = await accounts.readSession(cookieOf(c))
    return session === null
      ? c.redirect(`/sign-in?next=${encodeURIComponent(nextOf(c))}`, 303)
      : leave(c, 'confirm', session.id)
  })

  app.get(CALLBACK_PATH, async (c) => {
    const session = await accounts.readSession(cookieOf(c))
    const { search } = new URL(c.req.url)
    const browser = browserOf(dashboard, c)
    return guarded(dashboard, c, oidc, async () => {
      const finished = await oidc.finish(cookieOf(c), search, session, browser)
      const { flow, outcome, cookies } = finished
      if (outcome !== 'done')
        return withCookies(await refuse(dashboard, c, oidc, outcome, finished), cookies)
      if (flow?.purpose === 'connect') tellNext(dashboard, c, 'sign-in-connected')
      return withCookies(c.redirect(readReturnPath(flow?.next ?? ''), 303), cookies)
    })
  })
}

function nextOf(c: Context): string {
  return readReturnPath(c.req.query('next') ?? '')
}
