import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../fixtures/postgres-database.ts'
import type { Fault } from './nemesis.ts'
import { now } from './record.ts'

/** Somebody else holds the row of a key for a while, changes nothing, and lets go. A cause for a 429, so it is recorded. */
export function lockRow(url: string, longestMs = 1_200): Fault {
  return async (random, { subjects, operations }) => {
    const { name, id, owner } = random.pick(subjects.slice(-12))
    const t0 = now()
    await asAdmin(url, async (client) => {
      await client.query('BEGIN')
      await client.query('SELECT FROM api_keys WHERE id = $1 FOR NO KEY UPDATE', [id])
      await delay(random.between(20, longestMs))
      await client.query(random.chance(0.5) ? 'COMMIT' : 'ROLLBACK')
    }).catch(() => {})
    const t1 = now()
    operations.push({
      operation: 'lock',
      key: name,
      owner: owner.name,
      t0,
      t1,
      status: 200,
      body: '',
      connection: 0,
      place: 0,
    })
  }
}
