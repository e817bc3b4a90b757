import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { type ArchiveTable, type Kind, type Restored, TABLES } from '../../src/archive/archive.ts'
import { openArchive } from '../../src/archive/open.ts'
import { preparePostgresRestore } from '../../src/archive/postgres-restore.ts'
import { asAdmin, removeDatabase } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import type { Server } from '../fixtures/postgres/server.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

/** The rows of each table, in the same words from both engines and in the same order. */
export type Rows = Record<string, string[]>

/** A database that has the current schema, and is dropped after the test. */
export async function databaseFor(t: Pick<TestContext, 'after'>, server: Server): Promise<string> {
  const url = await createMigratedDatabase(server)
  t.after(() => removeDatabase(server, url))
  return url
}

export async function query<Row = Record<string, unknown>>(
  url: string,
  text: string,
): Promise<Row[]> {
  const result = await asAdmin(url, (admin) => admin.query(text))
  return result.rows as Row[]
}

export async function restore(url: string, path: string): Promise<Restored> {
  const prepared = await preparePostgresRestore(url, await openArchive(path))
  try {
    return await prepared.apply(operatorAt(presentInstant()))
  } finally {
    await prepared.close()
  }
}

const KEY_USES: ArchiveTable = {
  name: 'api_key_uses',
  columns: { api_key_id: 'uuid', last_used_at: 'instant' },
  key: ['api_key_id'],
}
const USES_ON_POSTGRES = '(SELECT id AS api_key_id, last_used_at FROM api_keys) AS uses'
const READ = [...TABLES.filter(({ name }) => name !== 'last_backup'), KEY_USES]

export async function rowsOfPostgres(url: string): Promise<Rows> {
  const as: Partial<Record<Kind, (column: string) => string>> = {
    instant: (column) =>
      `greatest(-9007199254740991, least(9007199254740991, extract(epoch FROM ${column}) * 1000000))::bigint::text`,
    bytes: (column) => `encode(${column}, 'hex')`,
  }
  return asAdmin(url, async (admin) => {
    const all: Rows = {}
    for (const table of READ) {
      const from = table === KEY_USES ? USES_ON_POSTGRES : table.name
      all[table.name] = textsOf((await admin.query(selectFrom(table, as, from))).rows)
    }
    return all
  })
}

/** The rows after a restore, without its entry in the audit log. */
export async function rowsRestored(url: string): Promise<Rows> {
  const { audit_log: entries = [], ...rows } = await rowsOfPostgres(url)
  const others = entries.filter((entry) => !entry.includes('"database restored"'))
  assert.equal(others.length, entries.length - 1)
  return { ...rows, audit_log: others }
}

export function rowsOfFile(path: string): Rows {
  const as = { bytes: (column: string) => `lower(hex(${column}))` }
  const file = new DatabaseSync(path, { readOnly: true })
  try {
    return Object.fromEntries(
      READ.map((table) => [table.name, textsOf(file.prepare(selectFrom(table, as)).all())]),
    )
  } finally {
    file.close()
  }
}

function selectFrom(
  { name, columns }: ArchiveTable,
  as: Partial<Record<Kind, (column: string) => string>>,
  from: string = name,
): string {
  const selected = Object.entries(columns).map(([column, kind]) => {
    const value = as[kind]?.(column) ?? column
    return `CASE WHEN ${column} IS NOT NULL THEN ${value} END AS ${column}`
  })
  return `SELECT ${selected.join(', ')} FROM ${from}`
}

function textsOf(rows: readonly object[]): string[] {
  // One engine has a number where the other one has its digits.
  return rows
    .map((row) => JSON.stringify(Object.values(row)).replaceAll(/"(-?\d+)"/g, '$1'))
    .toSorted()
}

/** An id that ends in this number. */
export const idOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
/** A hash in hexadecimal that ends in this number. */
export const hashOf = (number: number): string => String(number).padStart(64, '0')

/** Gives a database a row in every table, and every column a value beside its default. */
export async function fill(url: string): Promise<void> {
  const [ada, bob, eve] = [1, 2, 3].map((number) => `'${idOf(number)}'`)
  const key = (number: number) => `'${idOf(number)}', '\\x${hashOf(number)}'`
  await query(
    url,
    `BEGIN;
    INSERT INTO identities VALUES ('https://id.example.com', 'eve', ${eve});
    INSERT INTO users VALUES
      (${ada}, 'ada@example.com', 'site-1', '2026-01-01 00:00:00.000001Z', NULL, NULL),
      (${bob}, 'bob@example.com', NULL, '1969-12-31 23:59:59.999999Z', '2026-02-01Z', 'https://id.example.com'),
      (${eve}, NULL, NULL, 'infinity', NULL, NULL);
    UPDATE users SET banned_at = '2026-02-03 00:00:00.000001Z' WHERE id = ${eve};
    INSERT INTO passwords VALUES (${ada}, '$argon2id$v=19$"\\\\ü');
    INSERT INTO organizations VALUES ('${idOf(11)}', 'guild', 'Guild 🎮');
    INSERT INTO members VALUES ('${idOf(11)}', ${ada}, 'owner', '2026-01-02Z');
    INSERT INTO invitations VALUES ('${idOf(12)}', '${idOf(11)}', 'new@example.com', ${ada}, '2026-01-03Z');
    INSERT INTO servers VALUES
      ('${idOf(21)}', ${ada}, NULL, E'Line\\nbreak', NULL, 'a.example.com', 'java', 'published', NULL, NULL,
        '2026-03-01 00:00:00.123456Z'),
      ('${idOf(22)}', ${ada}, '${idOf(11)}', 'Team', 'team', 'b.example.com:1', 'bedrock', 'draft', '1.21', 'realm',
        '2026-03-02Z');
    INSERT INTO api_keys (id, key_hash, user_id, name, prefix, created_at, revoked_at, last_used_at) VALUES
      (${key(31)}, ${ada}, 'one', 'svc_live_0000031', '2026-01-01Z', NULL, '2026-04-01 00:00:00.000001Z'),
      (${key(32)}, ${ada}, 'two', 'svc_live_0000032', '2026-01-02Z', '2026-04-02Z', NULL),
      (${key(33)}, ${bob}, 'off', 'svc_live_0000033', '2026-01-03Z', NULL, NULL);
    INSERT INTO revoked_hashes VALUES ('\\x${hashOf(99)}', '2026-05-01Z');
    INSERT INTO audit_log VALUES
      ('${idOf(41)}', '2026-06-01Z', ${ada}, 'key revoked', 'two', '192.0.2.1'),
      ('${idOf(42)}', '2026-06-02Z', NULL, 'database backed up', 'archive', '');
    INSERT INTO last_backup VALUES (1, '2026-07-01Z');
    INSERT INTO usage_counts VALUES (2900000, '${idOf(31)}', 5, 6, 7);
    INSERT INTO sessions VALUES ('${idOf(51)}', ${ada}, 'token', '', '', now(), now(), now() + interval '1 day');
    INSERT INTO sign_in_links VALUES (${ada}, 'token', now() + interval '1 day');
    INSERT INTO sign_in_attempts VALUES ('${idOf(52)}', 'who', now());
    INSERT INTO secrets VALUES ('setup', 'token');
    INSERT INTO server_changes VALUES ('${idOf(53)}', ${ada}, now(), 'servers removed', '[]', '{}', NULL);
    INSERT INTO checked_imports VALUES ('${idOf(54)}', ${ada}, now(), '[]', NULL);
    COMMIT`,
  )
}

/** SQL that gives a user active keys whose hashes end in these numbers. */
export const issueKeys = (user: number, first: number, last = first): string =>
  `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
   SELECT gen_random_uuid(), '${idOf(user)}', 'key ' || n, 'svc_live_', decode(lpad(n::text, 64, '0'), 'hex'), now()
   FROM generate_series(${first}, ${last}) AS n;`

/** SQL that revokes the key whose hash ends in this number. */
export const revokeKey = (number: number): string =>
  `UPDATE api_keys SET revoked_at = now() WHERE key_hash = '\\x${hashOf(number)}';`

/** The ends of the hashes of the keys that are active, in order. */
export async function activeKeys(url: string): Promise<number[]> {
  const rows = await query<{ hash: string }>(
    url,
    `SELECT encode(key_hash, 'hex') AS hash FROM api_keys
     WHERE revoked_at IS NULL AND disabled_at IS NULL ORDER BY 1`,
  )
  return rows.map(({ hash }) => Number(hash))
}
