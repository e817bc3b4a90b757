import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono/tiny'
import { html } from 'hono/html'
import { Overloaded } from '../accounts/sign-in/passwords.ts'
import { NotJournaled } from '../model/faults.ts'
import { addAccountRoutes, DELETE_PATH } from '../accounts/pages/account.ts'
import { recognizeSession, requireSession } from '../accounts/pages/session.ts'
import { addSessionListRoute } from '../accounts/pages/session-list.ts'
import { addSignInLinkRoutes } from '../accounts/pages/sign-in/sign-in-link.ts'
import { addSessionRoutes } from '../accounts/pages/sign-in/sign-in.ts'
import { addSignUpRoutes } from '../accounts/pages/sign-in/sign-up.ts'
import type { App, Env } from '../web/context.ts'
import { addClientRoute } from './docs/client.ts'
import { addDocsRoutes } from './docs/page.ts'
import { addAssets } from '../web/html/assets.ts'
import { showNotFound, showPage } from '../web/html/page.ts'
import type { KeysDashboard } from '../keys/pages/page.ts'
import { addKeyRoutes } from '../keys/pages/routes.ts'
import type { Handler } from '../web/listen.ts'
import { addDeleteAccountRoutes } from '../directory/pages/delete-account.ts'
import { addOperatorRoutes } from './operator/page.ts'
import { addOrganizationRoutes } from '../organizations/pages/list.ts'
import { addMemberRoutes } from '../organizations/pages/members.ts'
import { checkRequest, setSecurityHeaders } from '../web/request/guard.ts'
import { throttleAddress, throttleUser } from '../web/request/throttle.ts'
import { addRobotsRoute } from './robots.ts'
import { addStartRoutes } from './start/page.ts'
import { addEditRoutes } from '../servers/pages/edit.ts'
import { addChangeRoutes } from '../servers/pages/changes/routes.ts'
import { addExportRoutes } from '../servers/pages/export.ts'
import { addServerRoutes } from '../servers/pages/list/page.ts'
import { IMPORT_PATH } from '../servers/pages/import/form.ts'
import { addImportRoutes } from '../servers/pages/import/routes.ts'
import { addPreviewRoutes } from '../servers/pages/preview.ts'
import { addVisibleServerRoute } from '../servers/pages/visible-server.ts'
import { addPublicRoute, PUBLIC_PATH } from '../servers/pages/public.ts'

/** True for too many passwords at once, and for a browser that hung up while it sent a form. */
function isExpected(fault: Error): boolean {
  return fault instanceof Overloaded || (fault as NodeJS.ErrnoException).code === 'ECONNRESET'
}

function whatWentWrong(fault: Error, path: string, method: string) {
  // Access ends first, so the user may be unable to try again.
  if (path === DELETE_PATH && method === 'POST')
    return html`<p>The service may have deleted your account in part. Try to sign in again. If you can’t, ask the operator to delete the rest.</p>`
  if (fault instanceof NotJournaled)
    return html`<p>The service can’t write its record of revoked keys. If you revoked a key, the key no longer works, but an older copy of the database could bring it back. Tell the operator, and revoke the key again later.</p>`
  if (method === 'POST')
    return html`<p>The service may not have saved your change. Wait a moment, go back and check before you try again.</p>`
  return html`<p>The service can’t show this page right now. Wait a moment and try again.</p>`
}

/** Answers each request by its page. Loads the pages of an identity provider only if one is set. */
export async function createDashboard(dashboard: KeysDashboard): Promise<Handler> {
  const { oidc } = dashboard
  const provider = oidc === null ? null : await import('../accounts/pages/oidc/routes.ts')
  const app = createRoutes(dashboard, (routes) =>
    oidc === null ? undefined : provider?.addOidcRoutes(routes, dashboard, oidc),
  )
  return getRequestListener(app.fetch, { overrideGlobalObjects: false })
}

export function createRoutes(
  dashboard: KeysDashboard,
  addMore: (app: App) => void = () => {},
): App {
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    c.set('site', dashboard.site)
    return next()
  })
  app.use(setSecurityHeaders(dashboard))
  addAssets(app)
  addRobotsRoute(app, dashboard)
  addClientRoute(app)
  const { managesServers } = dashboard.site
  app.use(checkRequest(dashboard, managesServers ? [] : [IMPORT_PATH]))
  app.get('/', (c) => c.redirect('/dashboard', 303))
  for (const path of ['/sign-in/*', '/sign-up', '/setup/*', '/link/*'])
    app.use(path, throttleAddress(dashboard))
  addSessionRoutes(app, dashboard)
  addSignUpRoutes(app, dashboard)
  addSignInLinkRoutes(app, dashboard)
  if (dashboard.siteUrl !== null) {
    app.use(PUBLIC_PATH, throttleAddress(dashboard))
    addPublicRoute(app, dashboard, dashboard.siteUrl)
  }

  app.use('/docs/*', throttleAddress(dashboard), recognizeSession(dashboard))
  addDocsRoutes(app, dashboard)
  const session = requireSession(dashboard)
  app.use('/dashboard/*', session, throttleUser(dashboard, session))
  addStartRoutes(app, dashboard)
  addKeyRoutes(app, dashboard)
  addPreviewRoutes(app, dashboard)
  addExportRoutes(app, dashboard)
  addServerRoutes(app, dashboard)
  if (managesServers) addVisibleServerRoute(app, dashboard)
  else {
    addImportRoutes(app, dashboard)
    addChangeRoutes(app, dashboard)
    addEditRoutes(app, dashboard)
  }
  addOrganizationRoutes(app, dashboard)
  addMemberRoutes(app, dashboard)
  addAccountRoutes(app, dashboard)
  addSessionListRoute(app, dashboard)
  addDeleteAccountRoutes(app, dashboard)

  addOperatorRoutes(app, dashboard)
  addMore(app)

  app.notFound(showNotFound)
  app.onError((fault, c) => {
    if (!isExpected(fault)) dashboard.onFault(fault)
    c.header('Retry-After', '5')
    return showPage(c, {
      title: 'Something went wrong',
      status: 503,
      width: 'form',
      body: whatWentWrong(fault, c.req.path, c.req.method),
    })
  })
  return app
}
