import { createHash, randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { prefixOf } from '../src/keys/api-key.ts'
import { hashApiKey } from '../src/model/key-hash.ts'
import { presentInstant } from '../src/model/instant.ts'
import { migratePostgres } from '../src/postgres/store.ts'
import { migrateSqlite } from '../src/sqlite/store.ts'
import { asAdmin } from '../test/fixtures/postgres/database.ts'

/*
 * Fills a database with owners of five keys and `serversPerOwner` servers each. All values have the
 * same length, so that all listings have the same size.
 */

export const KEYS_PER_OWNER = 5
const CACHE_KIB = 4 * 1024 * 1024

export async function seedSqlite(
  path: string,
  keys: number,
  serversPerOwner: number,
): Promise<void> {
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  // Random ids go to all pages of an index, so the pages must fit into memory.
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA cache_size = -${CACHE_KIB}`)
  const functions = {
    owner_id: ownerId,
    uuid: () => randomUUID(),
    key_of: keyOf,
    hashApiKey,
    prefixOf,
  }
  for (const [name, body] of Object.entries(functions))
    database.function(name, body as (value: unknown) => string | Uint8Array)
  // The data is on the disk when COMMIT returns, so the disk does not write it while we measure.
  database.exec('BEGIN')
  insertRows(database, keys, serversPerOwner)
  database.exec('COMMIT; PRAGMA journal_mode = WAL')
  database.close()
}

/** What the functions return stays in memory until their statement ends, so rows come in slices. */
const SLICE = 100_000

function insertRows(database: DatabaseSync, keys: number, serversPerOwner: number): void {
  const now = presentInstant()
  const owners = keys / KEYS_PER_OWNER
  database.exec(`
    CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY);
    WITH RECURSIVE up (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM up WHERE n < ${keys - 1})
    INSERT INTO numbers SELECT n FROM up;
  `)
  const insert = (rows: number, sql: string) => {
    const statement = database.prepare(sql)
    for (let first = 0; first < rows; first += SLICE)
      statement.run(first, Math.min(first + SLICE, rows) - 1)
  }
  insert(
    owners,
    `INSERT INTO users (id, email, created_at) SELECT owner_id(n), n || '@example.com', ${now}
     FROM numbers WHERE n BETWEEN ? AND ?`,
  )
  insert(
    owners,
    `INSERT INTO servers (id, created_by, name, slug, host_label, version, listing_kind, updated_at)
     SELECT uuid(), owner_id(o.n), format('Emerald Hollow %07d', o.n), format('emerald-%07d-%d', o.n, s.n),
       format('emerald-%07d.example.net:25565', o.n), '1.21.4', 'server', ${now} - s.n * 1000000
     FROM numbers AS o, numbers AS s WHERE o.n BETWEEN ? AND ? AND s.n < ${serversPerOwner}`,
  )
  insert(
    keys,
    `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
     SELECT uuid(), owner_id(n / ${KEYS_PER_OWNER}), 'bot', prefixOf(key_of(n)), hashApiKey(key_of(n)), ${now}
     FROM numbers WHERE n BETWEEN ? AND ?`,
  )
}

export async function seedPostgres(
  url: string,
  keys: number,
  serversPerOwner: number,
): Promise<void> {
  await migratePostgres(url)
  const owners = keys / KEYS_PER_OWNER
  await asAdmin(url, async (client) => {
    await client.query(`
    INSERT INTO users (id, email, created_at)
    SELECT md5('owner' || n)::uuid, n || '@example.com', now()
    FROM generate_series(0, ${owners - 1}) AS n;
    INSERT INTO servers (id, created_by, name, slug, host_label, version, listing_kind, updated_at)
    SELECT gen_random_uuid(), md5('owner' || n)::uuid, 'Emerald Hollow ' || to_char(n, 'FM0000000'),
      'emerald-' || to_char(n, 'FM0000000') || '-' || m, 'emerald-' || to_char(n, 'FM0000000') || '.example.net:25565',
      '1.21.4', 'server', now() - m * interval '1 second'
    FROM generate_series(0, ${owners - 1}) AS n, generate_series(0, ${serversPerOwner - 1}) AS m;
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
    SELECT gen_random_uuid(), md5('owner' || n / ${KEYS_PER_OWNER})::uuid, 'bot', 'svc_live_' || left(secret, 7),
      sha256(convert_to('svc_live_' || secret, 'UTF8')), now()
    FROM generate_series(0, ${keys - 1}) AS n, encode(sha256(convert_to('key' || n, 'UTF8')), 'hex') AS secret;
  `)
    await client.query('VACUUM (ANALYZE, FREEZE)')
    await client.query('CHECKPOINT')
  })
}

/**
 * `count` keys of a seeded database, of every owner or of every nth. They come in a scattered order
 * that is the same in each run.
 */
export function keysOf(count: number, every = 1): string[] {
  // A step that is a prime number visits every number once.
  const step = 65_537
  return Array.from({ length: count }, (_, n) => keyOf(((n * step) % count) * every))
}

/** Keys of the right form that no seeded database knows. */
export function unknownKeys(count: number): string[] {
  return Array.from({ length: count }, (_, n) => keyOf(-1 - n))
}

export function keyOf(number: number): string {
  return `svc_live_${createHash('sha256').update(`key${number}`).digest('hex')}`
}

export function ownerId(number: number): string {
  const digits = createHash('md5').update(`owner${number}`).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
