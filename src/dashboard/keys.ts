import { SESSION_FRESH } from '../listing/accounts.ts'
import { ACTIVE_KEYS_MAX } from '../listing/api-key.ts'
import { INVITATION_KEPT } from '../listing/invitation.ts'
import { issueApiKey } from '../listing/manage-api-keys.ts'
import { SLOTS_SHOWN, slotOf } from '../listing/use-counts.ts'
import { attemptAgain, refuseMany } from './attempts.ts'
import { idFromFormTag } from './form-field.ts'
import { showIssuedKey } from './issued-key.ts'
import { type KeysPage, REVOKED_SHOWN, showDeleteKey, showKeys } from './keys-page.ts'
import { notice, showNotFound } from './page.ts'
import { type App, audit, cookieOf, type Dashboard, fieldOf, type Visit } from './visit.ts'

/** Keys: seen, issued and deleted by their owner (spec 5.3). */
export function addKeyRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard

  app.get('/dashboard/api', async (visit) => {
    const done = visit.req.query('done')
    return showOwnKeys(dashboard, visit, {
      name: visit.req.query('name') ?? '',
      ...(done === 'deleted' ? { message: DELETED } : {}),
    })
  })

  app.post('/dashboard/api', (visit) => issue(dashboard, visit))

  app.get('/dashboard/api/:id/delete', async (visit) => {
    const apiKey = await findActive(dashboard, visit)
    return apiKey === null ? showNotFound(visit) : showDeleteKey(visit, apiKey)
  })

  app.post('/dashboard/api/:id/delete', async (visit) => {
    const { userId } = visit.get('session')
    const revoked = await store.revokeApiKey(userId, visit.req.param('id'), now())
    if (revoked === null) return showNotFound(visit)
    await audit(dashboard, visit, 'key revoked', userId, revoked.id)
    return visit.redirect('/dashboard/api?done=deleted', 303)
  })
}

const DELETED = notice('good', 'The key is deleted: from now on it gets a 401.')

async function findActive({ store }: Dashboard, visit: Visit) {
  const apiKeys = await store.listApiKeys(visit.get('session').userId, 0)
  const found = apiKeys.find(({ id }) => id === visit.req.param('id'))
  return found === undefined || found.revoked_at !== null ? null : found
}

async function issue(dashboard: Dashboard, visit: Visit): Promise<Response> {
  const { store, accounts, now, baseUrl } = dashboard
  const session = visit.get('session')
  const name = fieldOf(visit, 'name')
  if (now() - session.startedAt >= SESSION_FRESH) {
    if (fieldOf(visit, 'password') === '')
      return showOwnKeys(dashboard, visit, { name, status: 403, passwordError: ASK_PASSWORD })
    const tried = await attemptAgain(dashboard, visit)
    if (tried.outcome === 'refused') {
      const passwordError = tried.status === 401 ? 'The password is wrong.' : tried.message
      const status = tried.status === 401 ? 403 : tried.status
      return showOwnKeys(dashboard, visit, { name, status, passwordError })
    }
  }

  // Checking a password takes a while, in which the session may have been ended.
  if ((await accounts.readSession(cookieOf(visit))) === null) return visit.redirect('/sign-in', 303)
  const often = await refuseMany(dashboard, visit, 'issue', ISSUED_MAX)
  if (often !== null)
    return showOwnKeys(dashboard, visit, { name, status: 429, message: notice('bad', often) })

  const id = idFromFormTag(session.userId, fieldOf(visit, 'form'))
  const issued = await issueApiKey(store, session.userId, name, now(), id)
  if ('key' in issued) {
    await audit(dashboard, visit, 'key issued', session.userId, id)
    return showIssuedKey(visit, issued, baseUrl)
  }
  if (issued.because === 'known')
    return showOwnKeys(dashboard, visit, { status: 409, message: KNOWN })
  if (issued.because === 'at limit')
    return showOwnKeys(dashboard, visit, { name, status: 409, message: AT_LIMIT })
  return showOwnKeys(dashboard, visit, { name, status: 422, nameError: NAME_ERROR })
}

/** Tries to issue a key, in a quarter of an hour: deleted ones are kept. */
const ISSUED_MAX = 100
const ASK_PASSWORD = 'You signed in more than ten minutes ago: enter your password to issue a key.'
const NAME_ERROR = 'A name has 1 to 64 characters, none of them a control character.'
const KNOWN = notice(
  'note',
  `This form has issued its key already, and a key is shown once only. If you do not have it, delete that key and issue another.`,
)
const AT_LIMIT = notice(
  'bad',
  `No key was issued: you have ${ACTIVE_KEYS_MAX} active ones, which is the most. Delete one first.`,
)

/** The page of the user's keys. */
export async function showOwnKeys(
  dashboard: Dashboard,
  visit: Visit,
  page: KeysPage,
): Promise<Response> {
  const { store, counter, now } = dashboard
  const { userId, startedAt } = visit.get('session')
  const apiKeys = await store.listApiKeys(userId, REVOKED_SHOWN + 1)
  const slot = slotOf(now())
  const ids = apiKeys.map(({ id }) => id)
  const written = await store.listUseCounts(ids, slot - SLOTS_SHOWN + 1)
  const counts = [...written, ...counter.unwritten(ids)]
  const invitations = await store.listInvitations(userId, now() - INVITATION_KEPT)
  const asksPassword = now() - startedAt >= SESSION_FRESH
  return showKeys(visit, { ...page, apiKeys, counts, slot, asksPassword, invitations })
}
