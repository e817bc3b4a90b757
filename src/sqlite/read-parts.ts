import { DatabaseSync } from 'node:sqlite'
import { setImmediate as otherWork } from 'node:timers/promises'
import type { Sql } from '../database/sql.ts'
import { retryWhileLocked } from './database.ts'
import { queriesOn } from './management-statements.ts'

/**
 * Hands over the rows of a query in parts, and lets the event loop run between them. The query has
 * a connection of its own, because the control plane uses its connection meanwhile.
 */
export async function readParts(
  path: string,
  lockWaitMs: number,
  query: Sql,
  rowsMax: number,
  onRows: (rows: unknown[]) => void,
): Promise<void> {
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    const rows = queriesOn(reader).iterate(query)
    let next = await retryWhileLocked(() => rows.next(), lockWaitMs)
    while (next.done !== true) {
      const part: unknown[] = []
      for (; next.done !== true && part.length < rowsMax; next = rows.next()) part.push(next.value)
      onRows(part)
      await otherWork()
    }
  } finally {
    reader.close()
  }
}
