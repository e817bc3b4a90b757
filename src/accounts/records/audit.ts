import {
  type Actor,
  AUDIT_DROPPED,
  AUDIT_KEPT_US,
  type AuditAction,
  type AuditEntry,
  DONE_BY_OPERATOR,
  OPERATORS_PAGE,
  REFUSED_COUNTED_MAX,
  type RefusedSignIns,
} from '../../model/audit.ts'
import type { Database, Dialect, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven } from '../../database/given-rows.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import type { Instant } from '../../model/instant.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'

export function audit(database: Database) {
  const { instant } = database.dialect

  return {
    /** Adds an entry and removes up to AUDIT_DROPPED entries older than AUDIT_KEPT_US. */
    writeAudit: ({ action, user_id, subject, address, occurred_at }: AuditEntry): Promise<void> =>
      act(database, { address, at: occurred_at }, async (_, note) =>
        note(action, user_id, subject),
      ),

    /**
     * The user's latest entries about the account, newest first. Omits refused sign-ins, because
     * strangers can cause any number, and what happened to servers.
     */
    async listEvents(userId: string, entriesMax: number): Promise<AuditEntry[]> {
      return database.all<AuditEntry>(sql`
        SELECT user_id, action, subject, address, ${instant('occurred_at')} FROM audit_log
        WHERE user_id = ${uuid(userId)}
          AND action <> 'sign-in refused' AND substr(action, 1, 6) <> 'server'
        ORDER BY audit_log.occurred_at DESC, id DESC LIMIT ${entriesMax}`)
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

/** Adds an entry about this user, with the actor of the act, or from elsewhere. */
export type Note = (
  action: AuditAction,
  userId: string | null,
  subject: string,
  from?: string,
) => void

/**
 * Runs an act as one transaction, with the entries that it notes. An act whose entry can't be
 * written changes nothing.
 */
export async function act<Result>(
  database: Database,
  { address, at: occurred_at, operatorId }: Actor,
  body: (transaction: Transaction, note: Note) => Promise<Result>,
): Promise<Result> {
  return database.transact(async (transaction) => {
    const entries: Row[] = []
    const add = (action: AuditAction, user_id: string | null, subject: string, from: string) => {
      entries.push({ id: nextId(), action, user_id, subject, address: from, occurred_at })
    }
    const noted = await body(transaction, (action, user_id, subject, from = address) => {
      const done = operatorId === undefined ? undefined : DONE_BY_OPERATOR[action]
      add(action, user_id, subject, done === undefined ? from : OPERATORS_PAGE)
      if (done !== undefined && operatorId !== undefined) add(done, operatorId, subject, address)
    })
    await writeEntries(transaction, database.dialect, entries)
    return noted
  })
}

/** The largest number of servers that an entry names. */
const NAMED_MAX = 10

/** What an entry about these servers has as its subject. */
export function sayServers(ids: readonly string[]): string {
  const others = ids.length - NAMED_MAX
  return [...ids.slice(0, NAMED_MAX), ...(others > 0 ? [`and ${others} more`] : [])].join(' ')
}

type Row = AuditEntry & { id: string }

/** Of entries with one instant, the log shows the later one first. */
const nextId = createOrderedIds()

const ENTRY = columnsOf({
  uuid: 'id user_id',
  instant: 'occurred_at',
  text: 'action subject address',
})

/** Removes up to AUDIT_DROPPED entries older than AUDIT_KEPT_US, too. */
async function writeEntries(
  transaction: Transaction,
  { skipLocked }: Dialect,
  entries: readonly Row[],
): Promise<void> {
  const [first] = entries
  if (first === undefined) return
  await transaction.run(sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM audit_log WHERE occurred_at < ${at(first.occurred_at - AUDIT_KEPT_US)}
      ORDER BY occurred_at LIMIT ${AUDIT_DROPPED} ${skipLocked}
    ) DELETE FROM audit_log WHERE id IN (SELECT id FROM old)`)
  await insertGiven(transaction, 'audit_log', ENTRY, entries)
}
