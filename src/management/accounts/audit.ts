import {
  AUDIT_DROPPED,
  AUDIT_KEPT_US,
  type AuditEntry,
  REFUSED_COUNTED_MAX,
  type RefusedSignIns,
} from '../../listing/accounts/audit.ts'
import type { Database, Queries } from '../database.ts'
import { at, sql, uuid } from '../sql.ts'
import type { Instant } from '../../listing/instant.ts'

export function audit(database: Database) {
  const { instant, skipLocked } = database.dialect

  return {
    /** Adds an entry and removes up to AUDIT_DROPPED entries older than AUDIT_KEPT_US. */
    async writeAudit(entry: AuditEntry): Promise<void> {
      await database.transact(async (transaction) => {
        await transaction.run(sql`
          WITH old AS MATERIALIZED (
            SELECT id FROM audit_log WHERE occurred_at < ${at(entry.occurred_at - AUDIT_KEPT_US)}
            ORDER BY occurred_at LIMIT ${AUDIT_DROPPED} ${skipLocked}
          ) DELETE FROM audit_log WHERE id IN (SELECT id FROM old)`)
        await insertEntry(transaction, entry)
      })
    },

    /**
     * The user's latest entries, newest first. Omits refused sign-ins, because strangers can cause
     * any number.
     */
    async listEvents(userId: string, entriesMax: number): Promise<AuditEntry[]> {
      return database.all<AuditEntry>(sql`
        SELECT user_id, action, subject, address, ${instant('occurred_at')} FROM audit_log
        WHERE user_id = ${uuid(userId)} AND action <> 'sign-in refused'
        ORDER BY audit_log.occurred_at DESC, id LIMIT ${entriesMax}`)
    },

    /**
     * The latest REFUSED_COUNTED_MAX refused sign-ins of the account since then, by address. Lists
     * the addresses with the latest attempts first.
     */
    async listRefusedSignIns(
      userId: string,
      since: Instant,
      addressesMax: number,
    ): Promise<RefusedSignIns[]> {
      return database.all<RefusedSignIns>(sql`
        SELECT address, count, ${instant('occurred_at')} FROM (
          SELECT address, count(*) AS count, max(occurred_at) AS occurred_at FROM (
            SELECT occurred_at, address FROM audit_log
            WHERE user_id = ${uuid(userId)} AND action = 'sign-in refused' AND occurred_at >= ${at(since)}
            ORDER BY occurred_at DESC LIMIT ${REFUSED_COUNTED_MAX}
          ) AS refused GROUP BY address
        ) AS by_address ORDER BY by_address.occurred_at DESC, address LIMIT ${addressesMax}`)
    },
  }
}

/** Adds an entry in the transaction of the action itself. */
export async function insertEntry(
  queries: Queries,
  { occurred_at, user_id, action, subject, address }: AuditEntry,
): Promise<void> {
  const user = user_id === null ? null : uuid(user_id)
  await queries.run(sql`
    INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address)
    VALUES (${crypto.randomUUID()}, ${at(occurred_at)}, ${user}, ${action}, ${subject}, ${address})`)
}
