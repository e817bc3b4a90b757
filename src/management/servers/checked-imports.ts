import type { Instant } from '../../listing/instant.ts'
import {
  type CheckedImport,
  type CheckedImportStore,
  IMPORT_KEPT_US,
  IMPORTS_MAX,
  type PlannedImport,
  type PlannedServer,
  type SavedImport,
} from '../../listing/servers/checked-import.ts'
import { REGISTERED_MAX } from '../../listing/servers/registered-server.ts'
import type { ServerEntry } from '../../listing/servers/server-entry.ts'
import type { Database, Dialect, Queries, Transaction } from '../database.ts'
import { at, sql, uuid } from '../sql.ts'
import {
  type ChangedServer,
  changedFields,
  type ImportedRow,
  type ImportPlan,
  planImport,
} from './import-plan.ts'
import { createOrderedIds } from './ordered-ids.ts'
import { countOwned } from './registered-servers.ts'
import { findStored, insertRows, updateRows } from './server-imports.ts'

export function checkedImports(database: Database): CheckedImportStore {
  const { dialect } = database

  return {
    async planServers(userId, entries) {
      const stored = await findStored(database, dialect, userId, null, entries)
      const plan = planImport(stored, entries, UNDATED, () => '')
      const owned = await countOwned(database, userId)
      return describe(plan, owned)
    },

    async keepImport(userId, id, entries, now) {
      await database.transact((transaction) => keep(transaction, userId, id, entries, now))
    },

    async findImport(userId, id, now) {
      return find(database, userId, id, now)
    },

    saveImport: (userId, id, fingerprint, now) =>
      database.transact((transaction) => save(transaction, dialect, userId, id, fingerprint, now)),
  }
}

/** In a plan that is only compared, an entry without an instant gets this one. */
const UNDATED: Instant = 0

async function keep(
  transaction: Transaction,
  userId: string,
  id: string,
  entries: readonly ServerEntry[],
  now: Instant,
): Promise<void> {
  await transaction.lock('users', [userId])
  await transaction.run(sql`
    DELETE FROM checked_imports WHERE user_id = ${uuid(userId)} AND id NOT IN (
      SELECT id FROM checked_imports WHERE user_id = ${uuid(userId)}
        AND checked_at > ${at(now - IMPORT_KEPT_US)}
      ORDER BY checked_at DESC, id DESC LIMIT ${IMPORTS_MAX - 1})`)
  const known = await transaction.get(sql`SELECT 1 FROM checked_imports WHERE id = ${uuid(id)}`)
  if (known !== null) return
  await transaction.run(sql`
    INSERT INTO checked_imports (id, user_id, checked_at, entries)
    VALUES (${uuid(id)}, ${uuid(userId)}, ${at(now)}, ${JSON.stringify(entries)})`)
}

async function find(
  queries: Queries,
  userId: string,
  id: string,
  now: Instant,
): Promise<CheckedImport | null> {
  const row = await queries.get<{ entries: string; saved: string | null }>(sql`
    SELECT entries, saved FROM checked_imports
    WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)} AND checked_at > ${at(now - IMPORT_KEPT_US)}`)
  if (row === null) return null
  return {
    entries: JSON.parse(row.entries) as ServerEntry[],
    saved: row.saved === null ? null : (JSON.parse(row.saved) as SavedImport),
  }
}

async function save(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  id: string,
  fingerprint: string,
  now: Instant,
): Promise<'saved' | 'replanned' | 'too many' | 'not found'> {
  await transaction.lock('users', [userId])
  const kept = await find(transaction, userId, id, now)
  if (kept === null) return 'not found'
  if (kept.saved !== null) return 'saved'
  const { entries } = kept
  const stored = await findStored(transaction, dialect, userId, null, entries)
  const checked = planImport(stored, entries, UNDATED, () => '')
  const owned = await countOwned(transaction, userId)
  const planned = describe(checked, owned)
  if (planned.fingerprint !== fingerprint) return 'replanned'
  if (planned.isTooMany) return 'too many'
  const { added, changed } = planImport(stored, entries, now, createOrderedIds())
  await insertRows(transaction, userId, null, added)
  await updateRows(transaction, changed)
  const saved: SavedImport = {
    added: added.length,
    changed: changed.length,
    unchanged: planned.unchanged,
  }
  await transaction.run(sql`
    UPDATE checked_imports SET saved = ${JSON.stringify(saved)} WHERE id = ${uuid(id)}`)
  return 'saved'
}

function describe({ added, changed, unchanged }: ImportPlan, owned: number): PlannedImport {
  // Loaded here: a command that lists needs no cryptography.
  const { hash } = process.getBuiltinModule('node:crypto')
  const differences = changed.map(({ stored, row }) => [stored, row])
  return {
    added: added.map((row) => toPlanned(row, [])),
    changed: changed.map((one) => toPlanned(one.row, fieldsOf(one))),
    unchanged: unchanged.length,
    isTooMany: added.length > 0 && owned + added.length > REGISTERED_MAX,
    fingerprint: hash('sha256', JSON.stringify([added, differences])),
  }
}

function toPlanned({ name, host_label }: ImportedRow, fields: string[]): PlannedServer {
  return { name, address: host_label, fields }
}

function fieldsOf(one: ChangedServer): string[] {
  return changedFields(one).map((column) => (column === 'host_label' ? 'address' : column))
}
