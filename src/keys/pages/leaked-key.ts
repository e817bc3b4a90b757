import { type KeysDashboard, showOwnKeys } from './own-keys.ts'
import type { ApiKey } from '../api-key.ts'
import { findPrefixes } from '../leaked-keys.ts'
import { countOf } from '../../model/text.ts'
import { apiKeys } from '../records/api-keys.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH, PREFIX_LENGTH } from '../../model/key-format.ts'
import { revokeLeakedKeys } from '../records/leaked-keys.ts'
import { actorOf, type App, fieldOf } from '../../web/context.ts'
import { type LeakedKeys, tellLeaked } from './notices.ts'

/** Deletes the user's keys that occur in a leaked text. No page repeats the text. */
export function addLeakedKeyRoute(app: App, dashboard: KeysDashboard): void {
  const { database } = dashboard

  app.post('/dashboard/api/leaked', async (c) => {
    const { userId } = c.get('session')
    const actor = actorOf(dashboard, c)
    const text = fieldOf(c, 'leaked')
    const { found, apiKeys: known } = await revokeLeakedKeys(database, text, actor, { userId })
    const leaked = { found, own: known.length, at: actor.at }
    const twins = await findTwins(userId, text)
    if (twins.length > 0)
      return showOwnKeys(dashboard, c, { status: 409, leakedError: sayTwins(twins, leaked) })
    if (known.length === 0)
      return showOwnKeys(dashboard, c, { status: 422, leakedError: sayNone(found) })
    tellLeaked(dashboard, c, leaked)
    return c.redirect('/dashboard/api', 303)
  })

  /** Active keys with a prefix in the text: those of which one prefix can mean several. */
  async function findTwins(userId: string, text: string): Promise<ApiKey[]> {
    const prefixes = findPrefixes(text)
    if (prefixes.length === 0) return []
    const active = await apiKeys(database).listApiKeys(userId, 0)
    return active.filter(({ prefix }) => prefixes.includes(prefix))
  }
}

function sayTwins(twins: readonly ApiKey[], { own }: LeakedKeys): string {
  const [first] = twins
  const others =
    own === 0
      ? ''
      : ` ${countOf(own, 'other key')} of yours in this text ${own === 1 ? 'was' : 'were'} deleted.`
  return `${twins.length} of your keys begin with ${first!.prefix}, so this text does not say which one has leaked. Delete the right one in the list.${others}`
}

function sayNone(found: number): string {
  if (found === 0)
    return `This text contains no key. A key is ${FIXED_PREFIX} and ${KEY_BODY_LENGTH} hex digits; the first ${PREFIX_LENGTH - FIXED_PREFIX.length} are enough.`
  return found === 1
    ? 'This text contains 1 key, and it is not yours. Nothing was deleted.'
    : `This text contains ${found} keys, and none of them is yours. Nothing was deleted.`
}
