import { idFromFormTag } from '../../web/request/form-id.ts'
import { type Issued, issueApiKey } from '../records/issued-keys.ts'
import { actorOf, type Context, fieldOf } from '../../web/context.ts'
import type { Notice } from '../../web/html/page.ts'
import { sentence } from '../../web/html/sentence.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { AT_KEY_LIMIT } from './forms.ts'
import { showIssuedKey } from './issued-key.ts'
import { apiKeys } from '../records/api-keys.ts'
import { type KeysDashboard, type KeysPage, showKeys } from './page.ts'

/** Issues a key to a user who has confirmed, and shows it. */
export async function issue(dashboard: KeysDashboard, c: Context): Promise<Response> {
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
