import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../fixtures/postgres-database.ts'
import type { Fault } from './nemesis.ts'
import { now, type Operation } from './record.ts'

/** Somebody else holds the row of a key for a while, changes nothing, and lets go. A cause for a 429, so it is recorded. */
export function lockRow(url: string, fromMs = 20, toMs = 1_200): Fault {
  return async (random, { subjects, operations }) => {
    const { name, id, owner } = random.pick(subjects.slice(-12))
    const note = (operation: Operation['operation'], t0: number, t1: number) => {
      const nothing = { body: '', connection: 0, place: 0 }
      operations.push({
        operation,
        key: name,
        owner: owner.name,
        t0,
        t1,
        status: 200,
        ...nothing,
      })
    }
    const asked = now()
    await asAdmin(url, async (client) => {
      await client.query('BEGIN')
      await client.query('SELECT FROM api_keys WHERE id = $1 FOR NO KEY UPDATE', [id])
      const got = now()
      await delay(random.between(fromMs, toMs))
      // It was there until now only if the connection still is.
      const until = now()
      await client.query('SELECT 1')
      note('held', got, until)
      await client.query(random.chance(0.5) ? 'COMMIT' : 'ROLLBACK')
    }).catch(() => {})
    note('lock', asked, now())
  }
}
