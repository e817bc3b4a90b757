import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import { actorOf, type App, type Context, fieldOf } from '../../web/context.ts'
import { type Notice, showNotFound } from '../../web/html/page.ts'
import { sentence } from '../../web/html/sentence.ts'
import { isolated } from '../../web/html/text.ts'
import { takeTold, tellNext } from '../../web/request/next-notice.ts'
import { apiKeys } from '../records/api-keys.ts'
import { renameApiKey } from '../records/renamed-keys.ts'
import { type KeyPage, RENAMED_ELSEWHERE, showKey } from './key-page.ts'
import { type KeysDashboard, readCounts } from './page.ts'
import { spanOf } from './usage/usage-span.ts'
import { usageOf } from './usage/usage-sums.ts'

/** The page of one key, and the form on it that renames the key. */
export function addKeyPageRoutes(app: App, dashboard: KeysDashboard): void {
  const { database } = dashboard

  app.get('/dashboard/api/:id', async (c) => {
    const apiKey = await findOwn(dashboard, c)
    if (apiKey === null) return showNotFound(c)
    const notice = takeRenamed(dashboard, c, apiKey)
    return showOwn(dashboard, c, apiKey, notice === null ? {} : { notice })
  })

  app.post('/dashboard/api/:id', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const name = fieldOf(c, 'name')
    const was = fieldOf(c, 'was')
    const typed = { name, ...(was === '' ? {} : { was }) }
    const actor = actorOf(dashboard, c)
    const renamed = await renameApiKey(database, userId, id, typed, actor)
    if (renamed === null) return showNotFound(c)
    if ('apiKey' in renamed) {
      tellNext(dashboard, c, 'key-renamed', renamed.apiKey.id)
      return c.redirect(`/dashboard/api/${id}`, 303)
    }
    const apiKey = await findOwn(dashboard, c)
    if (apiKey === null) return showNotFound(c)
    if (apiKey.revoked_at !== null) return showOwn(dashboard, c, apiKey, DELETED)
    return showOwn(dashboard, c, apiKey, {
      name,
      ...(renamed.because === 'name'
        ? { status: 422, nameError: sentence(renamed.refused) }
        : { status: 409, notice: RENAMED_ELSEWHERE(apiKey.name) }),
    })
  })
}

const DELETED: KeyPage = {
  status: 409,
  notice: { kind: 'bad', text: 'Nothing was saved: this key was deleted.' },
}

/** The user's key of the path, active or deleted. */
async function findOwn({ database }: KeysDashboard, c: Context): Promise<ApiKey | null> {
  const [found] = await apiKeys(database).findApiKeys(
    [c.req.param('id') ?? ''],
    c.get('session').userId,
  )
  return found ?? null
}

async function showOwn(
  dashboard: KeysDashboard,
  c: Context,
  apiKey: ApiKey,
  page: KeyPage,
): Promise<Response> {
  const span = spanOf(c.req.query('span'))
  const now = dashboard.now()
  const usage = usageOf(await readCounts(dashboard, [apiKey], span), span, now)
  return showKey(c, apiKey, usage, now, page)
}

function takeRenamed(dashboard: KeysDashboard, c: Context, { id, name }: ApiKey): Notice | null {
  const told = takeTold(dashboard, c, ['key-renamed'])
  if (told?.id !== id) return null
  return { kind: 'good', text: html`The key is now named <b>${isolated(name)}</b>.` }
}
