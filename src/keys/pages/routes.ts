import { type KeysDashboard, showKeys } from './page.ts'
import type { ApiKey } from '../api-key.ts'
import { requireConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { limitForms } from '../../accounts/pages/sign-in/rate-limit.ts'
import { KEYS_ISSUED_MAX } from '../../accounts/rate-limits.ts'
import { actorOf, type App, type Context, type Dashboard } from '../../web/context.ts'
import { showNotFound } from '../../web/html/page.ts'
import { showDeleteKey, showReplaceKey } from './forms.ts'
import { issue } from './issue.ts'
import { addKeyPageRoutes } from './key-page.ts'
import { takeNotice, tellDeleted } from './notices.ts'
import { apiKeys } from '../records/api-keys.ts'

/** Lists, issues, replaces and deletes the user's keys (spec 5.3). */
export function addKeyRoutes(app: App, dashboard: KeysDashboard): void {
  const { database, now } = dashboard

  app.get('/dashboard/api', async (c) => {
    const notice = await takeNotice(dashboard, c)
    return showKeys(dashboard, c, {
      name: c.req.query('name'),
      ...(notice === null ? {} : { notice }),
    })
  })

  const confirm = requireConfirmation(dashboard, 'issue a key')
  const limit = limitForms(dashboard, 'issue', KEYS_ISSUED_MAX)
  app.post('/dashboard/api', confirm, limit, (c) => issue(dashboard, c))

  addKeyPageRoutes(app, dashboard)

  app.get('/dashboard/api/:id/delete', async (c) => {
    const { apiKey } = await findActive(dashboard, c)
    return apiKey === null ? showGone(dashboard, c) : showDeleteKey(c, apiKey, now())
  })

  app.post('/dashboard/api/:id/delete', async (c) => {
    const { userId } = c.get('session')
    const actor = actorOf(dashboard, c)
    const revoked = await apiKeys(database).revokeApiKey(userId, c.req.param('id'), actor)
    if (revoked === null) return showNotFound(c)
    tellDeleted(dashboard, c, revoked.id)
    return c.redirect('/dashboard/api', 303)
  })

  app.get('/dashboard/api/:id/replace', async (c) => {
    const { apiKey, active } = await findActive(dashboard, c)
    return apiKey === null ? showGone(dashboard, c) : showReplaceKey(c, apiKey, active)
  })
}

/** For a page of a key that another tab has deleted, the page of keys says so. */
async function showGone(dashboard: KeysDashboard, c: Context): Promise<Response> {
  const id = c.req.param('id') ?? ''
  const deleted = await apiKeys(dashboard.database).findApiKeys([id], c.get('session').userId)
  if (deleted.length === 0) return showNotFound(c)
  tellDeleted(dashboard, c, id)
  return c.redirect('/dashboard/api', 303)
}

/** The user's active key of the path, or null, and the number of all active keys. */
async function findActive(
  { database }: Dashboard,
  c: Context,
): Promise<{ apiKey: ApiKey | null; active: number }> {
  const keys = await apiKeys(database).listApiKeys(c.get('session').userId, 0)
  const found = keys.find(({ id }) => id === c.req.param('id'))
  return { apiKey: found ?? null, active: keys.length }
}
