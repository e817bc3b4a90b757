import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { MIGRATIONS } from '../../../src/sqlite/migrate.ts'
import { programIn } from '../../cli/program.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { FILES, keptReleases, unpack } from './kept.ts'
import { postgresOf, sqliteOf } from './placed.ts'
import { readRows } from './postgres-rows.ts'

/*
 * A database or an archive of another version, or of another program, is refused by every command
 * with the same sentence, and stays as it is.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

interface Stranger {
  what: string
  /** Whether it begins without tables, not with those of this program. */
  isEmpty?: true
  /** What another program does with it, on both engines. */
  sql: string
  says: { sqlite: string; postgres: string }
}

const same = (sentence: string) => ({ sqlite: sentence, postgres: sentence })
const known = MIGRATIONS.length
const next = known + 1
const CHANGED = same(
  'the table schema_migrations of the database was changed; restore a backup into a new database',
)
const NOT_OURS = {
  sqlite: 'it belongs to another program: it has tables, but not ours. Name another file',
  postgres:
    'the database belongs to another program: it has tables, but not ours. Give the service a database of its own, or a schema of its own as the first one of the search_path',
}
const BEFORE_0_1_0 = same(
  'the database has the tables of a version before 0.1.0, which this program cannot read: write them to a file with that version (`server-listing export`), load the file into a new database with 0.1.0 (`server-listing apply`), and give this program that database',
)
const add = (number: number, programMin: number) =>
  `INSERT INTO schema_migrations SELECT ${number}, 'later', ${programMin}, applied_at
   FROM schema_migrations WHERE number = 1`
const ledgerOf = (types: string, rows: string) =>
  `CREATE TABLE users (id TEXT); CREATE TABLE schema_migrations (${types});
   INSERT INTO schema_migrations VALUES ${rows}`

const STRANGERS: readonly Stranger[] = [
  {
    what: 'that needs a newer program',
    sql: add(next, next),
    says: same(
      `the database needs a newer server-listing: its schema needs migration ${next}, this program knows ${known}`,
    ),
  },
  {
    what: 'of a version before 0.1.0',
    isEmpty: true,
    sql: ledgerOf(
      'number INTEGER, name TEXT, program_min INTEGER, applied_at INTEGER',
      `(1, '0001-init.sql', 1, 0), (2, '0002-ada.sql', 1, 0)`,
    ),
    says: BEFORE_0_1_0,
  },
  {
    what: 'of another program',
    isEmpty: true,
    sql: 'CREATE TABLE songs (title TEXT)',
    says: NOT_OURS,
  },
  {
    what: 'with the ledger of another program',
    isEmpty: true,
    sql: 'CREATE TABLE schema_migrations (version TEXT PRIMARY KEY)',
    says: NOT_OURS,
  },
  ...['number', 'name', 'program_min'].map((column) => ({
    what: `whose ledger lacks ${column}`,
    sql: `ALTER TABLE schema_migrations RENAME COLUMN ${column} TO other`,
    says: NOT_OURS,
  })),
  { what: 'without its ledger', sql: 'DROP TABLE schema_migrations', says: NOT_OURS },
  { what: 'with an empty ledger', sql: 'DELETE FROM schema_migrations', says: CHANGED },
  {
    what: 'that lacks its first migration',
    sql: 'DELETE FROM schema_migrations WHERE number = 1',
    says: CHANGED,
  },
  { what: 'with a gap after our migrations', sql: add(next + 1, 1), says: CHANGED },
  {
    what: 'with another migration in place of our last one',
    sql: `UPDATE schema_migrations SET name = '000${known}-other.sql' WHERE number = ${known}`,
    says: CHANGED,
  },
  { what: 'with a migration 0', sql: add(0, 1), says: CHANGED },
  {
    what: 'with a migration twice',
    isEmpty: true,
    sql: ledgerOf(
      'number INTEGER, name TEXT, program_min INTEGER',
      `(1, '0001-schema.sql', 1), (1, '0001-schema.sql', 1)`,
    ),
    says: CHANGED,
  },
  {
    what: 'with a text for a number',
    isEmpty: true,
    sql: ledgerOf('number TEXT, name TEXT, program_min INTEGER', `('1', '0001-schema.sql', 1)`),
    says: CHANGED,
  },
  {
    what: 'whose oldest program is unknown',
    isEmpty: true,
    sql: ledgerOf('number INTEGER, name TEXT, program_min INTEGER', `(1, '0001-schema.sql', NULL)`),
    says: CHANGED,
  },
]

/** `folder` has an archive, a list, and nothing else. */
const commandsOn = (folder: string) => [
  ['migrate'],
  ['backup', join(folder, 'new.db')],
  ['restore', '--yes', join(folder, 'archive')],
  ['restore', '--revocations', join(folder, 'list')],
  ['revocations', 'export', join(folder, 'exported')],
  ['user', 'list'],
  ['user', 'add', 'new@example.com'],
  ['key', 'revoke', '--user', 'ada@example.com', '0190b7a0-0000-7000-8000-000000000001'],
]

type Program = ReturnType<typeof programIn>

async function assertRefused(
  { run, begin, folder }: Program,
  DATABASE_URL: string,
  sentence: string,
) {
  const env = { DATABASE_URL }
  for (const args of commandsOn(folder)) {
    const { code, stdout, stderr } = await run(args, { env })
    assert.deepEqual(
      { args, code, stdout, stderr },
      { args, code: 1, stdout: '', stderr: sentence },
    )
  }
  const served = await begin('serve --require-database', { env }).ended
  assert.deepEqual([served.code, served.stderr], [78, sentence])
  const doctor = await run('doctor --json', { env })
  const problems = JSON.parse(doctor.stdout).filter(
    ({ check, state }: Record<string, string>) =>
      state === 'problem' && ['database', 'schema'].includes(check!),
  )
  assert.deepEqual(
    problems.map(({ found }: Record<string, string>) => `error: ${found}\n`),
    [sentence],
  )
}

/** The names of all files, and what they contain. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, hash('sha256', readFileSync(path))]),
  )
}

/** A program whose folder has an archive and a list of the newest release. */
function programWithFiles(t: Parameters<typeof programIn>[0]): Program {
  const program = programIn(t)
  writeFileSync(join(program.folder, 'archive'), unpack(release(), FILES.archive))
  writeFileSync(join(program.folder, 'list'), unpack(release(), FILES.journal))
  return program
}

const release = () => keptReleases().at(-1)!

for (const { what, isEmpty, sql, says } of STRANGERS) {
  // An archive has no log, and a service has made one for its file.
  for (const mode of ['wal', 'delete'])
    test(`a SQLite file ${what} is refused, in the journal mode ${mode}`, async (t) => {
      const program = programWithFiles(t)
      const { path } = sqliteOf(t, release())
      const DATABASE_URL = `sqlite:${path}`
      if (isEmpty) writeFileSync(path, '')
      else await program.done('migrate', { env: { DATABASE_URL } })
      const file = new DatabaseSync(path)
      file.exec(`${sql}; PRAGMA journal_mode = ${mode}`)
      file.close()
      const folders = [program.folder, join(path, '..')]
      const before = folders.map(contentOf)

      const place = says.sqlite === NOT_OURS.sqlite ? `cannot use the database file ${path}: ` : ''
      await assertRefused(program, DATABASE_URL, `error: ${place}${says.sqlite}\n`)
      for (const args of [
        ['restore', path],
        ['restore', '--revocations', path],
      ]) {
        const { code, stderr } = await program.run(args)
        assert.deepEqual([code, stderr], [1, `error: cannot restore ${path}: ${says.sqlite}\n`])
      }
      assert.deepEqual(folders.map(contentOf), before)
    })

  test(`a PostgreSQL database ${what} is refused`, async (t) => {
    const program = programWithFiles(t)
    const url = isEmpty ? await createDatabase(server) : (await postgresOf(server, release())).url
    if (!isEmpty) await program.done('migrate', { env: { DATABASE_URL: url } })
    await asAdmin(url, (client) => client.query(sql))
    const before = [await asAdmin(url, readAll), contentOf(program.folder)]
    await assertRefused(program, url, `error: ${says.postgres}\n`)
    assert.deepEqual([await asAdmin(url, readAll), contentOf(program.folder)], before)
  })
}

/** Names of all relations, with their files, and all rows. */
async function readAll(client: Parameters<typeof readRows>[0]) {
  const { rows } = await client.query(
    `SELECT relname, relfilenode FROM pg_class
     WHERE relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  return [rows, await readRows(client)]
}
