import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { CLAIM_INTERVAL_US } from '../../listing/api-key.ts'

/**
 * Waits one second if the file has claims, but none of this boot. Their monotonic stamps can't be
 * compared with this boot's clock; after the wait all of them are older than a second.
 */
export async function outlastOtherBoots(database: DatabaseSync, bootId: string): Promise<void> {
  const known = database.prepare('SELECT 1 FROM boots WHERE boot_id = ?').get(bootId)
  const used = database.prepare(
    'SELECT 1 WHERE EXISTS (SELECT 1 FROM uses) OR EXISTS (SELECT 1 FROM last_uses)',
  )
  if (known === undefined && used.get() !== undefined) await delay(CLAIM_INTERVAL_US / 1000)
}

/** The number of this boot, which is stored with monotonic stamps. Needs an open transaction. */
export function registerBoot(database: DatabaseSync, bootId: string): number {
  database.prepare('INSERT INTO boots (boot_id) VALUES (?) ON CONFLICT DO NOTHING').run(bootId)
  return Number(database.prepare('SELECT number FROM boots WHERE boot_id = ?').get(bootId)?.number)
}
