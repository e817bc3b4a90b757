import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../database/store.ts'
import { createEpisodes } from '../../log/episodes.ts'
import type { Log } from '../../log/log.ts'
import { passwords } from '../../accounts/records/passwords.ts'
import { secrets } from '../../accounts/records/secrets.ts'

const RETRY_MS = 1_000

/**
 * Logs the setup link as soon as the database can be reached, unless a user can already sign in.
 * `hint` follows the link. Resolves after that, or when `closing` is aborted.
 */
export async function printSetupLink(
  store: ServingStore,
  dashboardUrl: string,
  hint: string,
  log: Pick<Log, 'info' | 'fault'>,
  closing: AbortSignal,
): Promise<void> {
  const outage = createEpisodes(log.fault)
  while (!closing.aborted) {
    try {
      await store.prepare()
      if (await passwords(store.database).hasAccounts()) return
      const token = await secrets(store.database).keepSecret(
        'setup',
        randomBytes(16).toString('hex'),
      )
      if (closing.aborted) return
      log.info(`no account yet: create the first one at ${dashboardUrl}/setup/${token}${hint}`)
      return
    } catch (fault) {
      // A fault while the service closes is not an outage.
      if (!closing.aborted) outage.meet(() => fault)
    }
    await delay(RETRY_MS, null, { ref: false, signal: closing }).catch(() => {})
  }
}
