import { oldestInvitation } from '../../organizations/invitation.ts'
import { neededConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import { slotOf } from '../../model/usage-counts.ts'
import type { UsageCounter } from '../usage/usage-counter.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import type { Context } from '../../web/context.ts'
import { type KeysPage, REVOKED_SHOWN, showKeys } from './page.ts'
import { SLOTS_SHOWN } from './usage-chart.ts'
import { apiKeys } from '../records/api-keys.ts'
import { invitations } from '../../organizations/records/invitations.ts'

/** What the pages of keys need, beside what the pages of accounts need. */
export interface KeysDashboard extends AccountsDashboard {
  counter: UsageCounter
}

/** Shows the page of the user's keys. */
export async function showOwnKeys(
  dashboard: KeysDashboard,
  c: Context,
  page: KeysPage,
): Promise<Response> {
  const { database, counts, counter, now } = dashboard
  const { userId } = c.get('session')
  const keys = await apiKeys(database).listApiKeys(userId, REVOKED_SHOWN + 1)
  const at = now()
  const ids = keys.map(({ id }) => id)
  const written = await counts.listUsageCounts(ids, slotOf(at) - SLOTS_SHOWN + 1)
  const invited = await invitations(database).listInvitations(userId, oldestInvitation(at))
  const needed = await neededConfirmation(dashboard, c)
  return showKeys(c, {
    ...page,
    apiKeys: keys,
    counts: [...written, ...counter.unwritten(ids)],
    now: at,
    needed,
    invitations: invited,
  })
}
