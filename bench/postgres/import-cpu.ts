import { resolve } from 'node:path'
import { createUser } from '../../src/accounts/user.ts'
import type { ServerEntry } from '../../src/servers/server-entry.ts'
import type { Store } from '../../src/database/store.ts'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'
import { cpuSecondsOf } from '../proc.ts'
import { openTable } from '../table.ts'
import { users } from '../../src/accounts/records/users.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

/*
 * Measures the CPU time that PostgreSQL spends on an import: of new servers, of the same with
 * another `updated_at`, and of the same again. Compares this working tree with other ones in turns:
 * `node bench/postgres/import-cpu.ts [FOLDER…]`. Each folder needs its own node_modules.
 */

const ROWS = 20_000
const PART = 5_000
const ROUNDS = 2
const NOW = 1_800_000_000_000_000

const trees = ['.', ...process.argv.slice(2)].map((folder) => resolve(folder))
const title = `CPU time of PostgreSQL for an import of ${ROWS} servers, in ms`
const printRow = openTable(title, 'round')
const cluster = await startCluster()
try {
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const tree of trees) printRow(String(round), await measure(tree), `  ${tree}`)
} finally {
  await cluster.remove()
}

async function measure(tree: string) {
  const url = await createDatabase(cluster)
  const { openPostgresStore } = await import(`${tree}/src/postgres/store.ts`)
  const store = (await openPostgresStore(url, { create: true })) as Store
  const user = createUser('ada@example.com')
  const userId = user.id
  await users(store.database).insertUser(user, operatorAt(presentInstant()))
  const entries = Array.from({ length: ROWS }, (_, index) => ({
    name: `Server ${index}`,
    address: `s${index}.example.com`,
    ...(index % 2 === 0 ? { slug: `server-${index}` } : {}),
    version: '1.21',
  }))
  const save = (now: number) => cpuOf(url, () => saveParts(store, userId, entries, now))
  const spent = { new: await save(NOW), again: await save(NOW + 1), unchanged: await save(NOW + 1) }
  await store.close()
  return spent
}

async function saveParts(
  store: Store,
  userId: string,
  entries: readonly ServerEntry[],
  now: number,
): Promise<void> {
  for (let start = 0; start < entries.length; start += PART)
    await serverImports(store.database).saveServers(
      userId,
      null,
      entries.slice(start, start + PART),
      operatorAt(now),
    )
}

/** CPU time of the server's processes for this database during `body`, in milliseconds. */
async function cpuOf(url: string, body: () => Promise<void>): Promise<number> {
  const before = await cpuOfBackends(url)
  await body()
  return (await cpuOfBackends(url)) - before
}

async function cpuOfBackends(url: string): Promise<number> {
  const { rows } = await asAdmin(url, (admin) =>
    admin.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'server-listing'`,
    ),
  )
  return rows.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0) * 1_000
}
