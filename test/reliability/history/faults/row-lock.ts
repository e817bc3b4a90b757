import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import type { Commit } from './fault.ts'
import type { Random } from '../../../fixtures/random.ts'
import { now } from '../record/record.ts'

/**
 * Another session locks the row of a key for this many milliseconds, changes nothing, and releases
 * it.
 */
export function lockRow(url: string, stayMs: (random: Random) => number): Commit {
  return async (random, { subjects, operations }) => {
    const { name, id, owner } = random.pick(subjects.slice(-12))
    let isHeld = false
    await asAdmin(url, async (client) => {
      await client.query('BEGIN')
      await client.query('SELECT FROM api_keys WHERE id = $1 FOR NO KEY UPDATE', [id])
      const got = now()
      await delay(stayMs(random))
      // The lock lasted until now only if the connection still works.
      const until = now()
      await client.query('SELECT 1')
      const nothing = { status: 200, body: '', connection: 0, place: 0, process: 0 }
      operations.push({
        operation: 'held',
        key: name,
        owner: owner.name,
        t0: got,
        t1: until,
        ...nothing,
      })
      isHeld = true
      await client.query(random.chance(0.5) ? 'COMMIT' : 'ROLLBACK')
    }).catch(() => {})
    return { key: name, isCutShort: !isHeld }
  }
}
