import { createHash } from 'node:crypto'
import pg from 'pg'
import { migratePostgres } from '../../src/postgres/store.ts'

const KEYS_PER_OWNER = 5

/**
 * Fills a database with owners of five keys each, and of as many servers as asked for, all values of one length. The
 * database makes the rows itself; the keys can be told from their numbers.
 */
export async function seed(url: string, keys: number, serversPerOwner: number): Promise<void> {
  await migratePostgres(url)
  const client = new pg.Client(url)
  await client.connect()
  const owners = keys / KEYS_PER_OWNER
  await client.query(`
    INSERT INTO users (id, email, name, created_at, updated_at)
    SELECT md5('owner' || n)::uuid, n || '@example.com', 'owner', now(), now() FROM generate_series(0, ${owners - 1}) AS n;
    INSERT INTO servers (id, created_by, name, slug, host_label, version, listing_kind, updated_at)
    SELECT gen_random_uuid(), md5('owner' || n)::uuid, 'Emerald Hollow ' || to_char(n, 'FM0000000'),
      'emerald-' || to_char(n, 'FM0000000') || '-' || m, 'emerald-' || to_char(n, 'FM0000000') || '.example.net:25565',
      '1.21.4', 'server', now() - m * interval '1 second'
    FROM generate_series(0, ${owners - 1}) AS n, generate_series(0, ${serversPerOwner - 1}) AS m;
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
    SELECT gen_random_uuid(), md5('owner' || n / ${KEYS_PER_OWNER})::uuid, 'bot', 'svc_live_' || left(secret, 7),
      sha256(convert_to('svc_live_' || secret, 'UTF8')), now(), n % ${KEYS_PER_OWNER} + 1
    FROM generate_series(0, ${keys - 1}) AS n, encode(sha256(convert_to('key' || n, 'UTF8')), 'hex') AS secret;
  `)
  await client.query('VACUUM (ANALYZE, FREEZE)')
  await client.query('CHECKPOINT')
  await client.end()
}

/** The key with this number in any database that `seed` filled. */
export function keyOf(number: number): string {
  return `svc_live_${createHash('sha256').update(`key${number}`).digest('hex')}`
}
