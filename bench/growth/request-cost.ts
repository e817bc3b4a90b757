import { join } from 'node:path'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'
import { openDriver } from '../load/driver.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { runRounds } from '../rounds.ts'
import { KEYS, openCluster, openKeys, openScene } from '../scene.ts'
import { seedPostgres, seedSqlite } from '../seed.ts'
import { startServe } from '../subject.ts'

/*
 * `node bench/growth/request-cost.ts` prints what one request costs on each engine. docs/scale.md
 * builds on these figures. CPU time is in microseconds, the write-ahead log of PostgreSQL in bytes.
 */

const SECONDS = 3
const SERVERS_PER_OWNER = 10

const settings = { rounds: 5, seconds: SECONDS, warmUpSeconds: 5, requests: 0 }
const scene = openScene({ ...settings, tree: '' })
process.on('exit', scene.children.endAll)
try {
  const path = join(scene.folder, 'cost.db')
  await seedSqlite(path, KEYS, SERVERS_PER_OWNER)
  const onSqlite = await startServe(scene.children, 'SQLite', `sqlite:${path}`)
  const cluster = await openCluster(scene, { fsync: 'on', shared_buffers: '1GB' })
  const url = await createDatabase(cluster)
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  const onPostgres = await startServe(scene.children, 'PostgreSQL', url)
  const driver = openDriver(scene, openKeys(scene, 'cost'))
  for (const subject of [onSqlite, onPostgres]) await driver.run(subject, settings.warmUpSeconds)

  const spent = async () => ({
    service: cpuSecondsOf(onPostgres.pid),
    database: cpuSecondsOfFamily(cluster.postmasterPid()),
    log: await logBytes(url),
  })
  await runRounds({
    title: `cost of one request, under ${driver.name}`,
    count: settings.rounds,
    async measure() {
      const { perCpuSecond } = await driver.run(onSqlite, SECONDS)
      const before = await spent()
      const { ok, seconds } = await driver.run(onPostgres, SECONDS)
      const after = await spent()
      return {
        SQLite: 1e6 / perCpuSecond,
        'PostgreSQL, service': ((after.service - before.service) * 1e6) / ok,
        database: ((after.database - before.database) * 1e6) / ok,
        log: (after.log - before.log) / ok,
        'per second': ok / seconds,
      }
    },
  })
} finally {
  await scene.close()
}

/** The position in the server's write-ahead log. */
async function logBytes(url: string): Promise<number> {
  const query = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS bytes`
  const { rows } = await asAdmin(url, (client) => client.query<{ bytes: string }>(query))
  return Number(rows[0]!.bytes)
}
