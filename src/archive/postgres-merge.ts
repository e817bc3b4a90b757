import type pg from 'pg'
import { type ArchiveTable, NotRestored, TABLES } from './archive.ts'
import { LOADED_KEYS, staged } from './postgres-staging.ts'
import { EMPTIED } from './postgres-tables.ts'

/** The list only grows. It is united, not merged. */
const MERGED = TABLES.filter(({ name }) => name !== 'revoked_hashes')

/**
 * What frees the unique values of rows that change: one row may get the value that another one had.
 */
const FREED: Readonly<Record<string, string>> = {
  users: 'email = NULL, external_id = NULL',
  organizations: `slug = 'restoring ' || ours.id`,
  invitations: `email = 'restoring ' || ours.id`,
  api_keys: 'id = gen_random_uuid(), revoked_at = now(), slot = NULL',
}

/**
 * Makes our tables equal to the staged rows, apart from what a restore unites. Needs the lock, and
 * no trigger of ours. Returns how many keys stay revoked although they are active in the archive.
 */
export async function mergeStaging(client: pg.ClientBase): Promise<number> {
  await uniteRevocations(client)
  const revoked = await uniteKeys(client)
  for (const name of EMPTIED) await client.query(`DELETE FROM ${name}`)
  // A row stays where its key stays, because another program may have columns of its own there.
  for (const table of MERGED.toReversed()) await deleteMissing(client, table)
  for (const table of MERGED) await updateAndInsert(client, table)
  return revoked
}

async function uniteRevocations(client: pg.ClientBase): Promise<void> {
  await client.query(`
    INSERT INTO revoked_hashes (key_hash, revoked_at)
    SELECT key_hash, min(revoked_at) FROM (
      SELECT key_hash, revoked_at FROM ${staged('revoked_hashes')} UNION ALL
      SELECT key_hash, revoked_at FROM ${LOADED_KEYS} WHERE revoked_at IS NOT NULL
    ) AS given GROUP BY key_hash
    ON CONFLICT DO NOTHING`)
}

async function uniteKeys(client: pg.ClientBase): Promise<number> {
  await client.query(`
    UPDATE ${staged('users')} AS given SET disabled_at = ours.disabled_at
    FROM users AS ours
    WHERE ours.id = given.id AND ours.disabled_at IS NOT NULL AND given.disabled_at IS NULL`)
  await client.query(`
    CREATE UNLOGGED TABLE ${staged('api_keys')} AS
    SELECT united.*, CASE WHEN revoked_at IS NULL THEN row_number() OVER (
      PARTITION BY user_id, revoked_at IS NULL ORDER BY created_at, id
    ) END::smallint AS slot
    FROM (
      SELECT given.id, given.user_id, given.name, given.prefix, given.key_hash, given.created_at,
        coalesce(given.revoked_at, listed.revoked_at) AS revoked_at, owner.disabled_at,
        greatest(given.last_used_at, ours.last_used_at) AS last_used_at
      FROM ${LOADED_KEYS} AS given
      LEFT JOIN ${staged('users')} AS owner ON owner.id = given.user_id
      LEFT JOIN revoked_hashes AS listed ON listed.key_hash = given.key_hash
      LEFT JOIN api_keys AS ours ON ours.key_hash = given.key_hash
    ) AS united`)
  await client.query(`ANALYZE ${staged('api_keys')}`)
  const { rows } = await client.query<{ count: number }>(`
    SELECT count(*)::float8 AS count
    FROM ${LOADED_KEYS} AS given JOIN ${staged('api_keys')} AS united USING (key_hash)
    WHERE given.revoked_at IS NULL AND united.revoked_at IS NOT NULL`)
  return rows[0]!.count
}

async function deleteMissing(client: pg.ClientBase, table: ArchiveTable): Promise<void> {
  await client.query(`
    DELETE FROM ${table.name} AS ours
    WHERE NOT EXISTS (SELECT FROM ${staged(table.name)} AS given WHERE ${sameKey(table)})`)
}

async function updateAndInsert(client: pg.ClientBase, table: ArchiveTable): Promise<void> {
  const columns = columnsOf(table)
  const [ours, given] = ['ours', 'given'].map((row) => columns.map((name) => `${row}.${name}`))
  const changed = `FROM ${staged(table.name)} AS given
    WHERE ${sameKey(table)} AND (${ours!.join(', ')}) IS DISTINCT FROM (${given!.join(', ')})`
  const freed = FREED[table.name]
  if (freed !== undefined)
    await client.query(`UPDATE ${table.name} AS ours SET ${freed} ${changed}`)
  await client.query(`
    UPDATE ${table.name} AS ours SET ${columns.map((name) => `${name} = given.${name}`).join(', ')}
    ${changed}`)
  await client.query(`
    INSERT INTO ${table.name} (${columns.join(', ')}) SELECT ${columns.join(', ')}
    FROM ${staged(table.name)} AS given
    WHERE NOT EXISTS (SELECT FROM ${table.name} AS ours WHERE ${sameKey(table)})`)
}

const sameKey = ({ key }: ArchiveTable): string =>
  key.map((column) => `ours.${column} = given.${column}`).join(' AND ')

/** Those of `api_keys` that only PostgreSQL has are merged, too. */
const columnsOf = ({ name, columns }: ArchiveTable): string[] =>
  name === 'api_keys' ? [...Object.keys(columns), 'last_used_at', 'slot'] : Object.keys(columns)

/** Throws NotRestored if a table differs from its staged rows, or the list from the keys. */
export async function compareWithStaging(client: pg.ClientBase): Promise<void> {
  for (const table of MERGED) {
    const columns = columnsOf(table).join(', ')
    const ours = `SELECT ${columns} FROM ${table.name}`
    const given = `SELECT ${columns} FROM ${staged(table.name)}`
    await assertNone(
      client,
      `(${ours} EXCEPT ALL ${given}) UNION ALL (${given} EXCEPT ALL ${ours})`,
      `rows of the table ${table.name} differ from the archive`,
    )
  }
  await assertNone(
    client,
    `SELECT key_hash FROM ${staged('revoked_hashes')} EXCEPT SELECT key_hash FROM revoked_hashes`,
    'hashes of revoked keys are missing in the list',
  )
  await assertNone(
    client,
    `SELECT FROM api_keys LEFT JOIN revoked_hashes AS listed USING (key_hash)
     WHERE (api_keys.revoked_at IS NULL) <> (listed.key_hash IS NULL)`,
    'keys are not revoked as the list says',
  )
}

async function assertNone(client: pg.ClientBase, select: string, complaint: string): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM (${select}) AS wrong`,
  )
  const { count } = rows[0]!
  if (count > 0) throw new NotRestored(`${count} ${complaint}`)
}

export async function dropStaging(client: pg.ClientBase): Promise<void> {
  const tables = [...TABLES.map(({ name }) => staged(name)), LOADED_KEYS]
  await client.query(`DROP TABLE ${tables.join(', ')}`)
}

/**
 * No process may answer with a listing or a last use from before. For a second from now, every
 * process rejects all claims.
 */
export async function renewCaches(client: pg.ClientBase): Promise<void> {
  await client.query(`
    INSERT INTO listing_revisions (user_id, revision)
    SELECT owner, gen_random_uuid() FROM (
      SELECT created_by FROM servers UNION SELECT user_id FROM listing_revisions
    ) AS known (owner)
    ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision`)
  await client.query(`
    INSERT INTO service_epoch VALUES (true, clock_timestamp())
    ON CONFLICT (only_row) DO UPDATE SET started_at = excluded.started_at`)
}
