import type { ApiKeyStore } from '../../listing/api-key.ts'
import { type InvitationStore, oldestInvitation } from '../../listing/invitation.ts'
import { isFresh } from '../../listing/accounts/sessions.ts'
import { SLOTS_SHOWN, slotOf, type UseCountStore } from '../../listing/use-counts.ts'
import type { Context, Dashboard } from '../context.ts'
import { type KeysPage, REVOKED_SHOWN, showKeys } from './page.ts'

/** Shows the page of the user's keys. */
export async function showOwnKeys(
  dashboard: Dashboard<ApiKeyStore & UseCountStore & InvitationStore>,
  c: Context,
  page: KeysPage,
): Promise<Response> {
  const { store, counter, now } = dashboard
  const session = c.get('session')
  const { userId } = session
  const apiKeys = await store.listApiKeys(userId, REVOKED_SHOWN + 1)
  const at = now()
  const ids = apiKeys.map(({ id }) => id)
  const written = await store.listUseCounts(ids, slotOf(at) - SLOTS_SHOWN + 1)
  const counts = [...written, ...counter.unwritten(ids)]
  const invitations = await store.listInvitations(userId, oldestInvitation(at))
  const asksPassword = !isFresh(session, at)
  return showKeys(c, { ...page, apiKeys, counts, now: at, asksPassword, invitations })
}
