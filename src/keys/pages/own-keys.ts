import type { ApiKey } from '../api-key.ts'
import type { UsageCount } from '../../model/usage-counts.ts'
import type { UsageCounter } from '../usage/usage-counter.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import type { Context } from '../../web/context.ts'
import { type KeysPage, REVOKED_SHOWN, showKeys } from './page.ts'
import { firstSlotOf, LAST_DAY, spanOf, type UsageSpan } from './usage/usage-span.ts'
import { apiKeys } from '../records/api-keys.ts'
import { usageCounts } from '../records/usage-counts.ts'

/** What the pages of keys need, beside what the pages of accounts need. */
export interface KeysDashboard extends AccountsDashboard {
  counter: UsageCounter
}

/** Shows the page of the user's keys. */
export async function showOwnKeys(
  dashboard: KeysDashboard,
  c: Context,
  page: Omit<KeysPage, 'span'>,
): Promise<Response> {
  const { database, now } = dashboard
  const { userId } = c.get('session')
  const keys = await apiKeys(database).listApiKeys(userId, REVOKED_SHOWN + 1)
  const at = now()
  const span = spanOf(c.req.query('span'))
  const [active, deleted] = [true, false].map((isActive) =>
    keys.filter(({ revoked_at }) => (revoked_at === null) === isActive),
  )
  const counts = [
    ...(await readCounts(dashboard, active!, span)),
    ...(await readCounts(dashboard, deleted!, LAST_DAY)),
  ]
  return showKeys(c, {
    ...page,
    span,
    apiKeys: keys,
    counts,
    now: at,
  })
}

/** The counts of these keys in a span, also those that are not written yet. */
export async function readCounts(
  { database, counter, now }: KeysDashboard,
  keys: readonly ApiKey[],
  span: UsageSpan,
): Promise<UsageCount[]> {
  const ids = keys.map(({ id }) => id)
  const written = await usageCounts(database).listUsageCounts(ids, firstSlotOf(span, now()))
  return [...written, ...counter.unwritten(ids)]
}
