import type { DatabaseSync } from 'node:sqlite'

/** The number of this boot, which is stored with monotonic stamps. Needs an open transaction. */
export function registerBoot(database: DatabaseSync, bootId: string): number {
  database.prepare('INSERT INTO boots (boot_id) VALUES (?) ON CONFLICT DO NOTHING').run(bootId)
  return Number(database.prepare('SELECT number FROM boots WHERE boot_id = ?').get(bootId)?.number)
}
