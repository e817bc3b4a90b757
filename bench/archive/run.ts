import { rmSync, statSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { openArchive } from '../../src/archive/open.ts'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { preparePostgresRestore } from '../../src/archive/postgres-restore.ts'
import { temporaryFolder } from '../../test/fixtures/folder.ts'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../test/fixtures/postgres/migrated.ts'

/*
 * How long a backup and restores of PostgreSQL take, and how much memory this process has used by
 * then. `node bench/archive/run.ts 200000` generates 200,000 users with five servers and keys each.
 */

const users = Number(process.argv[2] ?? 20_000)
const each = 5

/** A tenth of the keys is revoked, and half of them were used. */
const ROWS = `
  SET synchronous_commit = off;
  INSERT INTO users SELECT md5('u' || n)::uuid, n || '@example.com', NULL, now() FROM generate_series(1, ${users}) AS n;
  INSERT INTO servers (id, created_by, name, slug, host_label, version, listing_kind, updated_at)
    SELECT gen_random_uuid(), md5('u' || n)::uuid, 'Emerald Hollow ' || n, 'emerald-' || n || '-' || s,
      'emerald-' || n || '.example.net:25565', '1.21.4', 'server', now() - s * interval '1 minute'
    FROM generate_series(1, ${users}) AS n, generate_series(1, ${each}) AS s;
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at, last_used_at)
    SELECT gen_random_uuid(), md5('u' || n)::uuid, 'bot', 'svc_live_0123456', sha256((n || '-' || s)::bytea), now(),
      CASE WHEN (n + s) % 10 = 0 THEN now() END, CASE WHEN s % 2 = 0 THEN now() END
    FROM generate_series(1, ${users}) AS n, generate_series(1, ${each}) AS s;
  INSERT INTO audit_log SELECT gen_random_uuid(), now(), md5('u' || n)::uuid, 'signed in', '', '192.0.2.1'
    FROM generate_series(1, ${users}) AS n;
  ANALYZE`

const CHANGES = `
  UPDATE servers SET version = '1.22' WHERE host_label LIKE 'emerald-1%';
  DELETE FROM servers WHERE host_label LIKE 'emerald-2%';
  UPDATE api_keys SET last_used_at = now() WHERE id::text LIKE '0%'`

const cleanUps: (() => unknown)[] = []
const cluster = await startCluster()
try {
  const folder = temporaryFolder({ after: (cleanUp) => cleanUps.push(cleanUp as () => unknown) })
  const url = await createMigratedDatabase(cluster)
  await asAdmin(url, (admin) => admin.query(ROWS))
  const path = join(folder, 'archive')
  await measure('nothing', async () => {})
  await measure('backup', () => backUpPostgres(url, path))
  console.log(`archive: ${Math.round(statSync(path).size / 1e6)} MB`)
  const empty = await createDatabase(cluster)
  await measure('restore into an empty database', () => restore(empty, path))
  await measure('restore over equal rows', () => restore(url, path))
  await asAdmin(url, (admin) => admin.query(CHANGES))
  await measure('restore over changed rows', () => restore(url, path))
} finally {
  await cluster.remove()
  for (const cleanUp of cleanUps) cleanUp()
}

async function restore(url: string, path: string): Promise<void> {
  const prepared = await preparePostgresRestore(url, await openArchive(path))
  const { kept } = await prepared.apply()
  await prepared.close()
  if (kept !== null) rmSync(kept)
}

async function measure(name: string, body: () => Promise<unknown>): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  const startedAt = performance.now()
  await body()
  const seconds = (performance.now() - startedAt) / 1_000
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1_024)
  const [p99, max] = [delays.percentile(99), delays.max].map((ns) => Math.round(ns / 1e6))
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${megabytes} MB resident at most, turns of ${p99} ms (p99) and ${max} ms`,
  )
}
