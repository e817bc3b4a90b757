import { change, hashOf, idOf, rows } from './files.ts'

/** A kind of row that breaks a rule: how a program makes it, and what messages say of it. */
export interface BrokenKind {
  kind: string
  sql: readonly string[]
  said: string
  /** The schema of the file is another one, too. */
  isSchemaChanged?: true
}

const [ADA, NONE] = [idOf(1), idOf(9)]

const key = (number: number, user: string): string => `
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
    VALUES ('${idOf(number)}', '${user}', 'k', 'svc_live_0000000', unhex('${hashOf(number)}'), 1)`

/** Removes the types and constraints of a table, and its indexes. */
const loosen = (table: string): string =>
  `PRAGMA legacy_alter_table = ON; CREATE TABLE loose AS SELECT * FROM ${table};
   DROP TABLE ${table}; ALTER TABLE loose RENAME TO ${table}`

/** SQL for a text of this length. */
function textOf(length: number): string {
  return `substr(replace(hex(zeroblob(${length})), '0', 'a'), 1, ${length})`
}

/** Changes the type of a column of the servers, and no row. */
const retype = (from: string, to: string): string =>
  `PRAGMA writable_schema = ON;
   UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = 'servers';
   PRAGMA writable_schema = RESET`

const UNCHECKED = 'PRAGMA ignore_check_constraints = ON'

/** Each breaks rows of a file that `filledFile` made for three users. */
export const BROKEN_KINDS: readonly BrokenKind[] = [
  {
    kind: 'an instant that is text',
    sql: [loosen('servers'), `UPDATE servers SET updated_at = 'soon' WHERE id = '${ADA}'`],
    said: `1 row with a value of another type than the column: servers ${ADA} (updated_at)`,
    isSchemaChanged: true,
  },
  {
    kind: 'an instant that is text although the table is strict',
    sql: [
      retype('updated_at INTEGER', 'updated_at ANY'),
      `UPDATE servers SET updated_at = 'soon' WHERE id = '${ADA}'`,
      retype('updated_at ANY', 'updated_at INTEGER'),
    ],
    said: `1 row with a value of another type than the column: servers ${ADA} (updated_at)`,
  },
  {
    kind: 'a last use that is text',
    sql: [
      `DROP TABLE older_claims; CREATE TABLE older_claims (api_key INTEGER PRIMARY KEY, claimed_at)`,
      `INSERT INTO older_claims VALUES (1, 'soon')`,
    ],
    said: '1 row with a value of another type than the column: older_claims 1 (claimed_at)',
  },
  {
    kind: 'a recent use that is text',
    sql: [
      `DROP TABLE recent_claims;
       CREATE TABLE recent_claims (number INTEGER PRIMARY KEY, api_key, claimed_at, monotonic, boot)`,
      `INSERT INTO recent_claims VALUES (1, 1, 5, 5, 1), (2, 1, 'soon', 5, 1)`,
    ],
    said: '1 row with a value of another type than the column: recent_claims 2 (claimed_at)',
  },
  {
    kind: 'a last use of a key that is text',
    sql: [
      `DROP TABLE last_claims;
       CREATE TABLE last_claims (api_key, claimed_at, monotonic, boot)`,
      `INSERT INTO last_claims VALUES ('ada', 5, 5, 1)`,
    ],
    said: '1 row with a value of another type than the column: last_claims ada (api_key)',
  },
  {
    kind: 'a value that is missing',
    sql: [loosen('users'), `UPDATE users SET created_at = NULL WHERE id = '${ADA}'`],
    said: `1 row with a value of another type than the column: users ${ADA} (created_at)`,
    isSchemaChanged: true,
  },
  {
    kind: 'a number that PostgreSQL cannot hold',
    sql: [`INSERT INTO usage_counts VALUES (1, '${ADA}', -2147483649, 2147483647, -2147483648)`],
    said: `1 row with a value of another type than the column: usage_counts 1 ${ADA} (answered)`,
  },
  {
    kind: 'text in Latin-1',
    sql: [`UPDATE servers SET name = CAST(X'436166E9' AS TEXT) WHERE id = '${ADA}'`],
    said: `1 row with text that is not UTF-8: servers ${ADA} (name)`,
  },
  {
    kind: 'half a character in CESU-8',
    sql: [`UPDATE servers SET version = CAST(X'C3A9EDA080' AS TEXT) WHERE id = '${ADA}'`],
    said: `1 row with text that is not UTF-8: servers ${ADA} (version)`,
  },
  {
    kind: 'text with a NUL',
    sql: [UNCHECKED, `UPDATE servers SET name = 'a' || char(0) WHERE id = '${ADA}'`],
    said: `1 row with a value that the CHECK of the column refuses: servers ${ADA} (name)`,
  },
  {
    kind: 'an id that is no UUID',
    sql: [UNCHECKED, `INSERT INTO organizations VALUES ('guild', 'guild', 'Guild')`],
    said: '1 row with a value that the CHECK of the column refuses: organizations guild (id)',
  },
  {
    kind: 'an id of several lines',
    sql: [
      UNCHECKED,
      `INSERT INTO organizations VALUES ('a' || char(10) || 'ok', 'guild', 'Guild')`,
    ],
    said:
      '1 row with a value that the CHECK of the column refuses: ' +
      String.raw`organizations a\u{a}ok (id)`,
  },
  {
    kind: 'a hash that is too short',
    sql: [UNCHECKED, `INSERT INTO revoked_hashes VALUES (7, X'0ABC', 1)`],
    said: '1 row with a value that the CHECK of the column refuses: revoked_hashes 0ABC (key_hash)',
  },
  {
    kind: 'text that is too long for an index of PostgreSQL',
    sql: [`UPDATE users SET email = ${textOf(2_601)} WHERE id = '${ADA}'`],
    said: `1 row with text that is too long for an index: users ${ADA} (email)`,
  },
  {
    kind: 'two texts that are too long for one index together',
    sql: [
      `INSERT INTO identities VALUES ('https://id', ${textOf(2_591)}, '${ADA}'),
         ('https://id', ${textOf(2_590)}, '${ADA}')`,
    ],
    said:
      '1 row with text that is too long for an index: ' +
      `identities https://id ${'a'.repeat(89)} (issuer, subject)`,
  },
  {
    kind: 'one email address of two users',
    sql: [loosen('users'), `UPDATE users SET email = 'u1@example.com' WHERE id = '${idOf(2)}'`],
    said: `1 row with a value that only one row may have: users ${ADA} (email)`,
    isSchemaChanged: true,
  },
  {
    kind: 'servers of an organization that is gone',
    sql: [
      ...[2, 3, 4, 5, 6, 7].map(
        (number) => `INSERT INTO servers (id, created_by, name, host_label, updated_at)
          VALUES ('${idOf(number + 20)}', '${ADA}', 'S', 'h', 1)`,
      ),
      `UPDATE servers SET organization_id = '${NONE}' WHERE created_by = '${ADA}'`,
    ],
    said:
      '7 rows of a user or an organization that does not exist: ' +
      `${[1, 22, 23, 24, 25].map((number) => `servers ${idOf(number)} (organization_id)`).join(', ')} and 2 more`,
  },
  {
    kind: 'a password without a user',
    sql: [`INSERT INTO passwords VALUES ('${NONE}', 'h')`],
    said: `1 row of a user or an organization that does not exist: passwords ${NONE} (user_id)`,
  },
  {
    kind: 'a key without a user',
    sql: [key(8, NONE)],
    said: `1 row of active keys without a user: api_keys ${idOf(8)} (user_id)`,
  },
  {
    kind: 'a revoked key without a user',
    sql: [key(8, NONE), `UPDATE api_keys SET revoked_at = 1 WHERE user_id = '${NONE}'`],
    said: `1 row of a user or an organization that does not exist: api_keys ${idOf(8)} (user_id)`,
  },
  {
    kind: 'a key of a user whose id has other letters',
    sql: [
      `CREATE TABLE loose (id TEXT PRIMARY KEY COLLATE NOCASE, email, external_id, created_at,
         disabled_at, email_issuer, banned_at);
       INSERT INTO loose SELECT * FROM users; DROP TABLE users; ALTER TABLE loose RENAME TO users`,
      `INSERT INTO users (id, email, created_at) VALUES ('aa${NONE.slice(2)}', 'a@example.com', 1)`,
      key(8, `AA${NONE.slice(2)}`),
    ],
    said: `1 row of active keys without a user: api_keys ${idOf(8)} (user_id)`,
    isSchemaChanged: true,
  },
  {
    kind: 'a user whom no sign-in finds',
    sql: [`UPDATE users SET email = NULL WHERE id = '${ADA}'`],
    said: `1 row of users without an email, an external_id and an identity: users ${ADA} (email)`,
  },
  {
    kind: 'ten active keys of one user',
    sql: [11, 12, 13, 14, 15, 16, 17, 18, 19].map((number) => key(number, ADA)),
    said: `1 row of users with more than 5 active keys: users ${ADA} (api_keys)`,
  },
]

/** Breaks rows as a program does that has dropped our triggers and enforces no references. */
export function breakRows(path: string, { sql }: Pick<BrokenKind, 'sql'>): void {
  const triggers = rows(path, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`).flat()
  change(path, ...triggers.map((name) => `DROP TRIGGER ${String(name)}`), ...sql)
}
