import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../database/database.ts'
import type { ServingStore } from '../../database/store.ts'
import { createEpisodes } from '../../log/episodes.ts'
import type { Log } from '../../log/log.ts'
import { passwords } from '../../accounts/records/passwords.ts'
import { secrets } from '../../accounts/records/secrets.ts'

const RETRY_MS = 1_000

/**
 * Runs `body` once the database can be reached, and again while the database fails. Resolves after
 * that, or when `closing` is aborted.
 */
export async function onceReachable(
  store: ServingStore,
  log: Pick<Log, 'fault'>,
  closing: AbortSignal,
  body: () => Promise<void>,
): Promise<void> {
  const outage = createEpisodes(log.fault)
  while (!closing.aborted) {
    try {
      await store.prepare()
      await body()
      return
    } catch (fault) {
      // A fault while the service closes is not an outage.
      if (!closing.aborted) outage.meet(() => fault)
    }
    await delay(RETRY_MS, null, { ref: false, signal: closing }).catch(() => {})
  }
}

/** Logs the setup link, unless a user can already sign in. `hint` follows the link. */
export async function printSetupLink(
  database: Database,
  dashboardUrl: string,
  hint: string,
  log: Pick<Log, 'info'>,
  closing: AbortSignal,
): Promise<void> {
  if (await passwords(database).hasAccounts()) return
  const token = await secrets(database).keepSecret('setup', randomBytes(16).toString('hex'))
  if (closing.aborted) return
  log.info(`no account yet: create the first one at ${dashboardUrl}/setup/${token}${hint}`)
}
