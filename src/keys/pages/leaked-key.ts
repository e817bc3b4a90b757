import { type KeysDashboard, showKeys } from './page.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH, PREFIX_LENGTH } from '../../model/key-format.ts'
import { revokeLeakedKeys } from '../records/leaked-keys.ts'
import { actorOf, type App, fieldOf } from '../../web/context.ts'
import { tellLeaked } from './notices.ts'

/** Deletes the user's keys that occur in a leaked text. No page repeats the text. */
export function addLeakedKeyRoute(app: App, dashboard: KeysDashboard): void {
  const { database } = dashboard

  app.post('/dashboard/api/leaked', async (c) => {
    const { userId } = c.get('session')
    const actor = actorOf(dashboard, c)
    const text = fieldOf(c, 'leaked')
    const { found, apiKeys: known } = await revokeLeakedKeys(database, text, actor, { userId })
    if (known.length === 0)
      return showKeys(dashboard, c, { status: 422, leakedError: sayNone(found) })
    tellLeaked(dashboard, c, { found, own: known.length, at: actor.at })
    return c.redirect('/dashboard/api', 303)
  })
}

function sayNone(found: number): string {
  if (found === 0)
    return `This text contains no key. A key is ${FIXED_PREFIX} and ${KEY_BODY_LENGTH} hex digits; the first ${PREFIX_LENGTH - FIXED_PREFIX.length} are enough.`
  return found === 1
    ? 'This text contains 1 key, and it is not yours. Nothing was deleted.'
    : `This text contains ${found} keys, and none of them is yours. Nothing was deleted.`
}
