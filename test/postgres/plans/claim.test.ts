import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ClientBase } from 'pg'
import { CLAIM } from '../../../src/postgres/claims/claim-statements.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

const OWNERS = 4_000
const SIZES = [1, 16]

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a claim finds its key in the hash index, with statistics of the table and without', async () => {
  const url = await createMigratedDatabase(server)
  await asAdmin(url, async (client) => {
    await client.query(`
      ALTER TABLE api_keys SET (autovacuum_enabled = off);
      INSERT INTO users (id, email, created_at)
      SELECT md5('owner' || n)::uuid, n || '@example.com', now()
      FROM generate_series(1, ${OWNERS}) AS n;
      INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
      SELECT gen_random_uuid(), md5('owner' || n)::uuid, 'bot', 'svc_live_', sha256((n || '-' || m)::bytea), now()
      FROM generate_series(1, ${OWNERS}) AS n, generate_series(1, 5) AS m;
    `)
    // As after a restore or an upgrade of the server.
    assert.equal(
      (await client.query(`SELECT FROM pg_stats WHERE tablename = 'api_keys'`)).rowCount,
      0,
    )
    for (const size of SIZES) await assertFoundByHash(client, size)
    await client.query('ANALYZE')
    for (const size of SIZES) await assertFoundByHash(client, size)
  })
})

/** Checks the plan of a batch, which PostgreSQL makes anew, and the one that it keeps for all. */
async function assertFoundByHash(client: ClientBase, size: number): Promise<void> {
  const hashes = Array.from({ length: size }, (_, index) => `'\\x${hashOf(`${index}-1`)}'`)
  const nulls = `array_fill(NULL::uuid, ARRAY[${size}])`
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`)
    await client.query(`PREPARE claim (bytea[], uuid[], uuid[]) AS ${CLAIM}`)
    const text = `EXPLAIN EXECUTE claim (ARRAY[${hashes.join()}]::bytea[], ${nulls}, ${nulls})`
    const { rows } = await client.query({ text, rowMode: 'array' })
    await client.query('DEALLOCATE claim')
    const scans = (rows as unknown as [string][])
      .map(([line]) => /((?:\w+ )+Scan.* on api_keys)\b/.exec(line)?.[1])
      .filter((scan) => scan !== undefined)
    const byHash = 'Index Scan using api_keys_by_hash on api_keys'
    assert.deepEqual(scans, [byHash, 'Tid Scan on api_keys', byHash], `${size} calls, ${mode}`)
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
