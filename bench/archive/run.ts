import { rmSync, statSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openArchive } from '../../src/archive/open.ts'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { preparePostgresRestore } from '../../src/archive/postgres-restore.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { prepareSqliteRestore } from '../../src/archive/sqlite-restore.ts'
import { temporaryFolder } from '../../test/fixtures/folder.ts'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../test/fixtures/postgres/migrated.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

/*
 * How long a backup and restores take on both engines, and how much memory this process has used by
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
  UPDATE api_keys SET name = 'other'
    WHERE user_id IN (SELECT id FROM users WHERE email LIKE '3%')`

const cleanUps: (() => unknown)[] = []
const cluster = await startCluster()
try {
  const folder = temporaryFolder({ after: (cleanUp) => cleanUps.push(cleanUp as () => unknown) })
  const url = await createMigratedDatabase(cluster)
  await asAdmin(url, (admin) => admin.query(ROWS))
  const path = join(folder, 'archive')
  await measure('nothing', async () => {})
  console.log('PostgreSQL')
  await measure('backup', () => backUpPostgres(url, path))
  console.log(`archive: ${Math.round(statSync(path).size / 1e6)} MB`)
  const empty = await createDatabase(cluster)
  await measureRestores(empty, path, (changes) => asAdmin(empty, (admin) => admin.query(changes)))
  console.log('SQLite')
  const file = join(folder, 'listing.db')
  await measureRestores(file, path, async (changes) => {
    const database = new DatabaseSync(file)
    database.exec(changes)
    database.close()
  })
  await measure('backup', () => backUpSqlite(file, join(folder, 'of-sqlite')))
} finally {
  await cluster.remove()
  for (const cleanUp of cleanUps) cleanUp()
}

async function measureRestores(
  place: string,
  path: string,
  change: (sql: string) => Promise<unknown>,
): Promise<void> {
  await measure('restore into an empty database', () => restore(place, path))
  await measure('restore over equal rows', () => restore(place, path))
  await change(CHANGES)
  await measure('restore over changed rows', () => restore(place, path))
}

async function restore(place: string, path: string): Promise<void> {
  const prepare = place.startsWith('postgres:') ? preparePostgresRestore : prepareSqliteRestore
  const prepared = await prepare(place, await openArchive(path), (fault) => {
    throw fault
  })
  const { kept } = await prepared.apply(operatorAt(presentInstant()))
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
