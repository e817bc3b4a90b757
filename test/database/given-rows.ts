import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { inStrings, sql } from '../../src/database/sql.ts'
import type { OpenDatabase } from './connection.ts'

/** Statements that a connection runs for many rows. */
export function givenRowsContract(open: OpenDatabase): void {
  test('a statement for given rows uses the values of each row, and its own wherever they stand', async (t) => {
    const database = await open(t)
    const columns = { action: 'text', id: 'uuid', instant: 'instant' } as const
    const rows = ['a', 'b', 'c'].map((action, instant) => ({ instant, id: randomUUID(), action }))
    const added = await database.transact((transaction) =>
      transaction.runGiven(
        columns,
        rows,
        ({ column, rowsOf }) => sql`
          INSERT INTO audit_log (subject, id, occurred_at, address, action)
          ${rowsOf(sql`${'own'}, ${column('id')}, ${column('instant')}, ${'last'}, ${column('action')}`)}`,
      ),
    )
    assert.equal(added, 3)
    const changed = await database.transact((transaction) =>
      transaction.runGiven(
        columns,
        rows.map((row) => ({ ...row, action: row.action === 'b' ? 'changed' : row.action })),
        ({ column, from }) => sql`
          UPDATE audit_log SET address = ${'first'}, action = ${column('action')} ${from}
          WHERE audit_log.id = ${column('id')} AND audit_log.action <> ${column('action')}
            AND subject ${inStrings(['own'])}`,
      ),
    )
    assert.equal(changed, 1)
    const { instant } = database.dialect
    assert.deepEqual(
      await database.all(sql`
        SELECT ${instant('occurred_at')}, id, action, subject, address FROM audit_log
        ORDER BY audit_log.occurred_at`),
      rows.map(({ instant: occurred_at, id, action }) =>
        action === 'b'
          ? { occurred_at, id, action: 'changed', subject: 'own', address: 'first' }
          : { occurred_at, id, action, subject: 'own', address: 'last' },
      ),
    )
  })
}
