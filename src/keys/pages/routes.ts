import type { ApiKey } from '../api-key.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH, PREFIX_LENGTH } from '../../model/key-format.ts'
import { requireConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { limitForms } from '../../accounts/pages/sign-in/rate-limit.ts'
import { KEYS_ISSUED_MAX } from '../../accounts/rate-limits.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../web/context.ts'
import { type Notice, showNotFound } from '../../web/html/page.ts'
import { sentence } from '../../web/html/sentence.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { idFromFormTag } from '../../web/request/form-id.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { apiKeys } from '../records/api-keys.ts'
import { type Issued, issueApiKey } from '../records/issued-keys.ts'
import { revokeLeakedKeys } from '../records/leaked-keys.ts'
import { AT_KEY_LIMIT, showDeleteKey, showReplaceKey } from './forms.ts'
import { showIssuedKey } from './issued-key.ts'
import { addKeyPageRoutes } from './key-page.ts'
import { takeNotice, tellLeaked } from './notices.ts'
import { type KeysDashboard, type KeysPage, showKeys } from './page.ts'

/** Lists, issues, replaces and deletes the user's keys, also those in a leaked text (spec 5.3). */
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

  // Deletes the user's keys in a leaked text, which no page repeats.
  app.post('/dashboard/api/leaked', async (c) => {
    const { userId } = c.get('session')
    const actor = actorOf(dashboard, c)
    const text = fieldOf(c, 'leaked')
    const { found, apiKeys: known } = await revokeLeakedKeys(database, text, actor, { userId })
    if (known.length === 0)
      return showKeys(dashboard, c, { status: 422, leakedError: sayNone(found) })
    tellLeaked(dashboard, c, found, known.length, actor.at)
    return c.redirect('/dashboard/api', 303)
  })

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
    tellNext(dashboard, c, 'key-deleted', revoked.id)
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
  tellNext(dashboard, c, 'key-deleted', id)
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

/** Issues a key to a user who has confirmed, and shows it. */
async function issue(dashboard: KeysDashboard, c: Context): Promise<Response> {
  const { database, baseUrl } = dashboard
  const { userId } = c.get('session')
  const name = fieldOf(c, 'name')
  const id = idFromFormTag(userId, fieldOf(c, 'form'))
  const issued = await issueApiKey(database, userId, name, actorOf(dashboard, c), id)
  if (!('key' in issued)) return showKeys(dashboard, c, sayRefused(issued, name))
  const list = () => apiKeys(database).listApiKeys(userId, 0)
  const keys = await bestEffort(dashboard, list, [])
  const replaced = keys.find((apiKey) => apiKey.id === fieldOf(c, 'replaces')) ?? null
  return showIssuedKey(c, { ...issued, replaced }, baseUrl)
}

function sayRefused(refused: Exclude<Issued, { key: string }>, name: string): KeysPage {
  if (refused.because === 'known') return { status: 409, notice: KNOWN }
  if (refused.because === 'at limit') return { name, status: 409, notice: AT_LIMIT }
  return { name, status: 422, nameError: sentence(refused.refused) }
}

const KNOWN: Notice = {
  kind: 'note',
  text: 'This form already issued its key, which can’t be shown again. If you didn’t copy it, delete it and issue another.',
}
const AT_LIMIT: Notice = {
  kind: 'bad',
  text: `No key was issued. ${AT_KEY_LIMIT} Delete one you no longer use to issue another.`,
}

function sayNone(found: number): string {
  if (found === 0)
    return `This text contains no key. A key is ${FIXED_PREFIX} and ${KEY_BODY_LENGTH} hex digits; the first ${PREFIX_LENGTH - FIXED_PREFIX.length} are enough.`
  return found === 1
    ? 'This text contains 1 key, and it is not yours. Nothing was deleted.'
    : `This text contains ${found} keys, and none of them is yours. Nothing was deleted.`
}
