import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { TABLES } from '../../src/archive/archive.ts'
import { findBrokenRows } from '../../src/archive/rules/judge.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { uuidOf } from '../fixtures/uuid-of.ts'

/*
 * SQLite refuses what PostgreSQL refuses in the tables of an archive, or an archive of one could
 * not be restored into the other.
 */

/** Texts that SQLite's own functions take for a UUID, because they end at the NUL, and others. */
const NO_IDS = [
  '',
  'ada',
  uuidOf(1).replace('-4000-8', '-4000-A'),
  `${uuidOf(1)}\0`,
  `${uuidOf(1)}\0-`,
  `0000000--0000-4000-8000-000000000001\0`,
  `${uuidOf(1)}0`,
  uuidOf(1).replaceAll('-', ''),
  `{${uuidOf(1).slice(1, -1)}}`,
  uuidOf(1).replace('8000-', '80-00'),
]
/** Columns that refer to another table's id have its values. */
const REFERENCES = ['user_id', 'organization_id', 'created_by', 'invited_by']

for (const { name, columns } of TABLES)
  for (const [column, kind] of Object.entries(columns)) {
    const isOwnId = kind === 'uuid' && (name === 'audit_log' || !REFERENCES.includes(column))
    if (isOwnId)
      test(`${name}.${column} takes lower-case UUIDs only`, () => {
        const tables = rowsWith(name, column)
        for (const text of NO_IDS) tables.refuses(text)
        tables.insert('0123abcd-ef45-6789-0abc-def012345678')
        tables.close()
      })
    if (kind === 'text')
      test(`${name}.${column} takes no NUL`, () => {
        const tables = rowsWith(name, column)
        for (const text of ['\0', 'a\0', 'a\0b', '\0b']) tables.refuses(text)
        tables.insert(column === 'role' ? 'owner' : 'a')
        tables.close()
      })
  }

/** Inserts rows whose other columns have values that the table accepts. */
function rowsWith(name: string, column: string) {
  const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false })
  migrate(database)
  const { columns } = TABLES.find((table) => table.name === name)!
  const values = Object.fromEntries(
    Object.entries(columns).map(([key, kind]) => [key, VALUES[kind]!]),
  )
  if (name === 'members') values.role = 'owner'
  const names = Object.keys(values)
  const insert = database.prepare(
    `INSERT INTO ${name} (${names.join()}) VALUES (${names.map(() => '?').join()})`,
  )
  const insertValue = (value: string) =>
    void insert.run(...names.map((one) => (one === column ? value : values[one]!)))
  return {
    insert: insertValue,

    /** The table refuses the value. In a table without its CHECK, `doctor` finds it. */
    refuses(value: string): void {
      assert.throws(() => insertValue(value), /CHECK constraint failed/, JSON.stringify(value))
      database.exec('PRAGMA ignore_check_constraints = ON; BEGIN')
      insertValue(value)
      const broken = findBrokenRows(database).find(({ found }) => found.includes('CHECK'))
      assert.match(String(broken?.first), new RegExp(`^${name} .*\\(${column}\\)$`, 's'))
      database.exec('ROLLBACK; PRAGMA ignore_check_constraints = OFF')
    },

    close: () => database.close(),
  }
}

const VALUES: Record<string, string | number | Uint8Array> = {
  uuid: uuidOf(1),
  text: 'a',
  integer: 1,
  instant: 1,
  bytes: new Uint8Array(32),
}
