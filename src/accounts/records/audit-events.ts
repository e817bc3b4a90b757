import type { AuditEntry } from '../../model/audit.ts'
import type { Database } from '../../database/database.ts'
import { raw, sql, uuid } from '../../database/sql.ts'
import type { User } from '../user.ts'

/** An entry of the audit log. The names of the user are null if there is none any more. */
export type AuditEvent = AuditEntry & Pick<User, 'email' | 'external_id'> & { id: string }

/** Entries in the order of their commits. */
export interface AuditEvents {
  events: readonly AuditEvent[]
  /** The place of the last entry; null if the log is empty. */
  next: string | null
}

const CURSOR = /^(rowid|xid)-(\d{1,19})-([0-9a-f-]{36})$/

export function auditEvents(database: Database) {
  const { auditOrder, instant } = database.dialect
  const { type, settled, foreign } = auditOrder
  const column = raw(`audit_log.${auditOrder.column}`)

  return {
    /**
     * The entries behind a cursor, without gaps: one appears once no earlier one can. Null if the
     * entry of the cursor is no longer at its place, because a restore has changed the log or it
     * is older than the log.
     */
    async readEvents(after: string | null, entriesMax: number): Promise<AuditEvents | null> {
      await numberAgain()
      return database.snapshot(async (queries) => {
        let behind = sql`true`
        if (after !== null) {
          const [, name, place = '', id = ''] = CURSOR.exec(after) ?? []
          if (name !== auditOrder.column) return null
          const [at, entry] = [sql`CAST(${place} AS ${raw(type)})`, uuid(id)]
          const known = sql`SELECT 1 FROM audit_log WHERE ${column} = ${at} AND id = ${entry}`
          if ((await queries.get(known)) === null) return null
          behind = sql`(${column}, audit_log.id) > (${at}, ${entry})`
        }
        const rows = await queries.all<AuditEvent & { place: string }>(sql`
          SELECT CAST(${column} AS text) AS place, audit_log.id, user_id, action, subject, address,
            email, external_id, ${instant('occurred_at')}
          FROM audit_log LEFT JOIN users ON users.id = user_id
          WHERE ${settled} AND ${behind}
          ORDER BY ${column}, audit_log.id LIMIT ${entriesMax}`)
        const last = rows.at(-1)
        const next = last ? `${auditOrder.column}-${last.place}-${last.id}` : after
        return { events: rows, next }
      })
    },
  }

  /** A dump of another server brings numbers beyond ours, and would hide entries until then. */
  async function numberAgain(): Promise<void> {
    const order = raw(auditOrder.column)
    // The last entry alone: PostgreSQL may expect more of them, and read the whole table.
    const last = sql`SELECT ${order} FROM audit_log ORDER BY ${order} DESC LIMIT 1`
    const found = await database.get(sql`SELECT 1 FROM (${last}) AS last WHERE ${foreign}`)
    if (found !== null)
      await database.run(sql`UPDATE audit_log SET ${order} = DEFAULT WHERE ${foreign}`)
  }
}
