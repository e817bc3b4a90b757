import { setTimeout as delay } from 'node:timers/promises'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { insist } from '../history/faults/insist.ts'
import type { Directory } from './directory.ts'

/** Moves an owner between two databases. Each step can be repeated until it succeeds. */
export type Move = (
  directory: Directory,
  owner: string,
  from: Database,
  to: Database,
) => Promise<void>

export interface Database {
  cluster: number
  url: string
}

const SECOND_MS = 1_000

/** The steps of docs/scale.md: stop the owner there, then start it here. */
export const moveSafely: Move = async (directory, owner, from, to) => {
  await directory.place(owner, null)
  await disable(from.url, owner)
  const stoppedAt = performance.now()
  await copyRows(owner, from.url, to.url)
  // The clocks of two clusters can differ, so their stamps do not decide here.
  await delay(Math.max(0, stoppedAt + SECOND_MS - performance.now()))
  await directory.place(owner, to.cluster)
  await removeOwner(from.url, owner)
}

/** The same without the stop. For a moment, both clusters grant claims of the same keys. */
export const moveWithoutStopping: Move = async (directory, owner, from, to) => {
  await copyRows(owner, from.url, to.url)
  await directory.place(owner, to.cluster)
  await removeOwner(from.url, owner)
}

/**
 * From its commit on, no service or abandoned transaction can record a claim in this database. It
 * is no revocation: the same keys are enabled in the other database.
 */
async function disable(url: string, owner: string): Promise<void> {
  await insist(url, `UPDATE users SET disabled_at = now() WHERE id = '${owner}'`)
}

/** Tables with an owner's rows, in an order that foreign keys allow. */
const TABLES = [
  ['users', 'id = $1'],
  ['organizations', 'id IN (SELECT organization_id FROM members WHERE user_id = $1)'],
  ['members', 'user_id = $1'],
  ['servers', 'created_by = $1'],
  ['api_keys', 'user_id = $1'],
] as const

async function copyRows(owner: string, from: string, to: string): Promise<void> {
  const read = async () =>
    asAdmin(from, async (client) => {
      const tables = []
      for (const [table, where] of TABLES) {
        const query = `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} AS t WHERE ${where}`
        const { rows } = await client.query<{ rows: string }>(query, [owner])
        tables.push([table, rows[0]!.rows] as const)
      }
      return tables
    })
  const write = async (tables: Awaited<ReturnType<typeof read>>) =>
    asAdmin(to, async (client) => {
      await client.query('BEGIN')
      for (const [table, rows] of tables)
        await client.query(
          `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1) ON CONFLICT DO NOTHING`,
          [rows],
        )
      await client.query('UPDATE users SET disabled_at = NULL WHERE id = $1', [owner])
      await client.query('COMMIT')
    })
  const tables = await untilDone(read)
  await untilDone(() => write(tables))
}

async function removeOwner(url: string, owner: string): Promise<void> {
  await insist(
    url,
    `BEGIN;
     DELETE FROM organizations WHERE id IN (SELECT organization_id FROM members WHERE user_id = '${owner}');
     DELETE FROM users WHERE id = '${owner}';
     COMMIT`,
  )
}

const RECOVERY_MS = 60_000

/** Repeats a step while a server may be recovering. */
async function untilDone<T>(step: () => Promise<T>): Promise<T> {
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (performance.now() > until) throw error
      await delay(50)
    }
  }
}
