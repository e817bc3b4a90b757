import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { addAccountRoutes } from './account.ts'
import { addInvitationRoutes } from './answer-invitation.ts'
import { addAssets } from './assets.ts'
import { checkRequest, setSecurityHeaders } from './guard.ts'
import { addKeyRoutes } from './keys.ts'
import { addLeakedKeyRoute } from './leaked-key.ts'
import type { Handler } from './listen.ts'
import { addMemberRoutes } from './members.ts'
import { addOrganizationRoutes } from './organizations.ts'
import { showNotFound, showPage } from './page.ts'
import { addPreviewRoutes } from './preview.ts'
import { addRegisterRoutes } from './register.ts'
import { addServerRoutes } from './servers.ts'
import { addSessionRoutes, requireSession } from './session.ts'
import { addSignUpRoutes } from './sign-up.ts'
import { takeTurnOfAddress, takeTurnOfUser } from './take-turn.ts'
import type { Dashboard, Env } from './visit.ts'

/** Too much at once, or a browser that hung up in the middle of its form. */
function isNoFault(fault: Error): boolean {
  return fault.name === 'Overloaded' || (fault as NodeJS.ErrnoException).code === 'ECONNRESET'
}

/** The dashboard: which request gets which page. */
export function createDashboard(dashboard: Dashboard): Handler {
  const app = new Hono<Env>()
  app.use(setSecurityHeaders(dashboard))
  addAssets(app)
  app.use(checkRequest(dashboard))
  app.get('/', (visit) => visit.redirect('/dashboard/api', 303))
  for (const path of ['/sign-in', '/sign-up', '/setup/*'])
    app.use(path, takeTurnOfAddress(dashboard))
  addSessionRoutes(app, dashboard)
  addSignUpRoutes(app, dashboard)

  app.use('/dashboard/*', requireSession(dashboard), takeTurnOfUser(dashboard))
  app.get('/dashboard', (visit) => visit.redirect('/dashboard/api', 303))
  addLeakedKeyRoute(app, dashboard)
  addKeyRoutes(app, dashboard)
  addPreviewRoutes(app, dashboard)
  addServerRoutes(app, dashboard)
  addRegisterRoutes(app, dashboard)
  addOrganizationRoutes(app, dashboard)
  addMemberRoutes(app, dashboard)
  addInvitationRoutes(app, dashboard)
  addAccountRoutes(app, dashboard)

  app.notFound(showNotFound)
  app.onError((fault, visit) => {
    if (!isNoFault(fault)) dashboard.onFault(fault)
    visit.header('Retry-After', '5')
    return showPage(visit, {
      title: 'That did not work',
      status: 503,
      body:
        visit.req.method === 'POST'
          ? html`<p>The service could not do this now. Wait a moment, go back, and look whether it was done all the same before you try again.</p>`
          : html`<p>The service could not show this now. Wait a moment, and try again.</p>`,
    })
  })
  return getRequestListener(app.fetch, { overrideGlobalObjects: false })
}
