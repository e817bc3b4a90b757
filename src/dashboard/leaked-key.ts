import { html } from 'hono/html'
import { FIXED_PREFIX, hashApiKey } from '../listing/api-key.ts'
import { showOwnKeys } from './keys.ts'
import { notice, shown } from './page.ts'
import { type App, audit, type Dashboard, fieldOf } from './visit.ts'

const KEYS = new RegExp(`${FIXED_PREFIX}[0-9A-Za-z]+`, 'g')
/** Strings in one text that are looked up. */
const KEYS_MAX = 20

/** Takes a text that somebody found somewhere, and deletes the user's keys in it. The text is never repeated. */
export function addLeakedKeyRoute(app: App, dashboard: Dashboard): void {
  app.post('/dashboard/api/leaked', async (visit) => {
    const { userId } = visit.get('session')
    const now = dashboard.now()
    const names: string[] = []
    const found = new Set(fieldOf(visit, 'leaked').match(KEYS))
    for (const key of [...found].slice(0, KEYS_MAX)) {
      const revoked = await dashboard.store.revokeApiKeyByHash(hashApiKey(key), now, userId)
      if (revoked === null) continue
      names.push(revoked.name)
      await audit(dashboard, visit, 'key revoked', userId, revoked.id)
    }
    if (names.length === 0) {
      const leakedError = 'None of your keys is in this text. A key has to be whole to be known.'
      return showOwnKeys(dashboard, visit, { status: 422, leakedError })
    }
    const list = names.map((name, index) => html`${index > 0 ? ', ' : ''}${shown(name)}`)
    const message = notice('good', html`Deleted, and refused from now on: ${list}`)
    return showOwnKeys(dashboard, visit, { message })
  })
}
