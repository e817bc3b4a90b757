import { type KeysDashboard, showOwnKeys } from './own-keys.ts'
import { idFromFormTag } from '../../web/request/form-id.ts'
import { issueApiKey } from '../records/issued-keys.ts'
import { KEYS_ISSUED_MAX } from '../../accounts/rate-limits.ts'
import { confirmUser } from '../../accounts/pages/sign-in/confirmation.ts'
import { askToSignIn } from '../../accounts/pages/session.ts'
import { actorOf, type Context, cookieOf, fieldOf } from '../../web/context.ts'
import type { Notice } from '../../web/html/page.ts'
import { sentence } from '../../web/html/sentence.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { limitUser } from '../../accounts/pages/sign-in/rate-limit.ts'
import { AT_KEY_LIMIT } from './forms.ts'
import { showIssuedKey } from './issued-key.ts'
import { apiKeys } from '../records/api-keys.ts'

export async function issue(dashboard: KeysDashboard, c: Context): Promise<Response> {
  const { database, accounts, baseUrl } = dashboard
  const session = c.get('session')
  const name = fieldOf(c, 'name')
  const unconfirmed = await confirmUser(dashboard, c, 'issue a key')
  if (unconfirmed !== null) {
    const { status, message } = unconfirmed
    return showOwnKeys(dashboard, c, { name, status, passwordError: message })
  }

  // The session may have ended while the service checked the password.
  if ((await accounts.readSession(cookieOf(c))) === null) return askToSignIn(dashboard, c)
  const often = await limitUser(dashboard, c, 'issue', KEYS_ISSUED_MAX)
  if (often !== null)
    return showOwnKeys(dashboard, c, { name, status: 429, notice: { kind: 'bad', text: often } })

  const id = idFromFormTag(session.userId, fieldOf(c, 'form'))
  const issued = await issueApiKey(database, session.userId, name, actorOf(dashboard, c), id)
  if ('key' in issued) {
    const keys = await bestEffort(
      dashboard,
      () => apiKeys(database).listApiKeys(session.userId, 0),
      [],
    )
    const replaced = keys.find((apiKey) => apiKey.id === fieldOf(c, 'replaces')) ?? null
    return showIssuedKey(c, { ...issued, replaced }, baseUrl)
  }
  if (issued.because === 'known') return showOwnKeys(dashboard, c, { status: 409, notice: KNOWN })
  if (issued.because === 'at limit')
    return showOwnKeys(dashboard, c, { name, status: 409, notice: AT_LIMIT })
  return showOwnKeys(dashboard, c, { name, status: 422, nameError: sentence(issued.refused) })
}

const KNOWN: Notice = {
  kind: 'note',
  text: 'This form already issued its key, which can’t be shown again. If you didn’t copy it, delete it and issue another.',
}
const AT_LIMIT: Notice = {
  kind: 'bad',
  text: `No key was issued. ${AT_KEY_LIMIT} Delete one you no longer use to issue another.`,
}
