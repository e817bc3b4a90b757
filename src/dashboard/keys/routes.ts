import { html } from 'hono/html'
import type { ApiKey, ApiKeyStore } from '../../listing/api-key.ts'
import type { AuditStore } from '../../listing/accounts/audit.ts'
import type { InvitationStore } from '../../listing/invitation.ts'
import type { AttemptStore } from '../../listing/accounts/sign-in-attempts.ts'
import { SESSION_FRESH_US } from '../../listing/accounts/sessions.ts'
import { MINUTE_US } from '../../listing/instant.ts'
import type { UseCountStore } from '../../listing/use-counts.ts'
import type { UserStore } from '../../listing/accounts/user.ts'
import type { App, Context, Dashboard } from '../context.ts'
import { notice, showNotFound } from '../html/page.ts'
import { type Html, isolated } from '../html/text.ts'
import { audit } from '../request/audit.ts'
import { showArrivalPage } from './arrival.ts'
import { showDeleteKey, showReplaceKey } from './forms.ts'
import { issue } from './issue.ts'
import { showOwnKeys } from './own-keys.ts'

/** Lists, issues, replaces and deletes the user's keys (spec 5.3). */
export function addKeyRoutes(
  app: App,
  dashboard: Dashboard<
    ApiKeyStore & UseCountStore & InvitationStore & UserStore & AttemptStore & AuditStore
  >,
): void {
  const { store, now } = dashboard

  app.get('/dashboard/api', async (c) => {
    const deleted = await findJustDeleted(dashboard, c, c.req.query('deleted') ?? '')
    return showOwnKeys(dashboard, c, {
      name: c.req.query('name') ?? '',
      ...(deleted === null ? {} : { message: sayDeleted(deleted) }),
    })
  })

  app.post('/dashboard/api', (c) => issue(dashboard, c))

  app.get('/dashboard/api/:id/delete', async (c) => {
    const { apiKey } = await findActive(dashboard, c)
    return apiKey === null ? showNotFound(c) : showDeleteKey(c, apiKey, now())
  })

  app.post('/dashboard/api/:id/delete', async (c) => {
    const { userId } = c.get('session')
    const revoked = await store.revokeApiKey(userId, c.req.param('id'), now())
    if (revoked === null) return showNotFound(c)
    await audit(dashboard, c, 'key revoked', userId, revoked.id)
    return c.redirect(`/dashboard/api?deleted=${revoked.id}`, 303)
  })

  app.get('/dashboard/api/:id/replace', async (c) => {
    const { apiKey, active } = await findActive(dashboard, c)
    if (apiKey === null) return showNotFound(c)
    const asksPassword = now() - c.get('session').startedAt >= SESSION_FRESH_US
    return showReplaceKey(c, apiKey, { asksPassword, active })
  })

  app.get('/dashboard/api/:id/arrival', async (c) => {
    const { apiKey } = await findActive(dashboard, c)
    return apiKey === null ? showNotFound(c) : showArrivalPage(c, apiKey, now())
  })
}

/** How long after a deletion the page confirms it, so that a kept link does not repeat it. */
const CONFIRMED_US = MINUTE_US

async function findJustDeleted(
  { store, now }: Dashboard<ApiKeyStore>,
  c: Context,
  id: string,
): Promise<ApiKey | null> {
  if (id === '') return null
  const apiKeys = await store.listApiKeys(c.get('session').userId, 1)
  const found = apiKeys.find((apiKey) => apiKey.id === id)
  return now() - (found?.revoked_at ?? 0) < CONFIRMED_US ? (found ?? null) : null
}

function sayDeleted({ name }: ApiKey): Html {
  return notice('good', html`${isolated(name)} was deleted. Requests with it now get a 401.`)
}

/** The user's active key of the path, or null, and the number of all active keys. */
async function findActive(
  { store }: Dashboard<ApiKeyStore>,
  c: Context,
): Promise<{ apiKey: ApiKey | null; active: number }> {
  const apiKeys = await store.listApiKeys(c.get('session').userId, 0)
  const found = apiKeys.find(({ id }) => id === c.req.param('id'))
  return { apiKey: found ?? null, active: apiKeys.length }
}
