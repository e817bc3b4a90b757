import { join, resolve } from 'node:path'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { chooseDriver } from '../load/driver.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openCluster, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { seedPostgres, seedSqlite } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'

const THIS_TREE = join(import.meta.dirname, '../..')

type Migrate = (location: string) => Promise<unknown>

/** Compares this tree with an older one, each on databases that it has migrated itself. */
export async function measureBefore(scene: Scene): Promise<Result[]> {
  const onSqlite = await measureSqlite(scene)
  const onPostgres = await measurePostgres(scene)
  return [
    ['200s per CPU second on SQLite, now / before', onSqlite, '≥ 0.97'],
    ['200s per second on PostgreSQL, now / before', onPostgres, '≥ 0.97'],
  ]
}

async function measureSqlite(scene: Scene): Promise<number> {
  const start = async (name: string, tree: string) => {
    const { migrateSqlite } = await import(join(tree, 'src/sqlite/store.ts'))
    const path = join(scene.folder, `${name}.db`)
    await seedSqlite(path, KEYS, SERVERS_PER_OWNER, migrateSqlite as Migrate)
    return startServe(scene.children, name, `sqlite:${path}`, tree)
  }
  const { before, now, load } = await openTrees(scene, start)
  const rounds = await runRounds({
    title: '200s per CPU second of the service, on SQLite',
    count: scene.settings.rounds,
    async measure() {
      const [old, own] = [await load(before), await load(now)]
      return {
        before: old.perCpuSecond,
        now: own.perCpuSecond,
        'not 200': old.other + own.other,
        ratio: own.perCpuSecond / old.perCpuSecond,
      }
    },
  })
  return medianOf(rounds, 'ratio')
}

async function measurePostgres(scene: Scene): Promise<number> {
  const cluster = await openCluster(scene, {
    fsync: 'on',
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
  })
  const start = async (name: string, tree: string) => {
    const { migratePostgres } = await import(join(tree, 'src/postgres/store.ts'))
    const url = await createDatabase(cluster)
    await seedPostgres(url, KEYS, SERVERS_PER_OWNER, migratePostgres as Migrate)
    return startServe(scene.children, name, url, tree)
  }
  const { before, now, load } = await openTrees(scene, start)
  const cost = async (subject: Subject) => {
    const cpu = () => [cpuSecondsOf(subject.pid), cpuSecondsOfFamily(cluster.postmasterPid())]
    const from = cpu()
    const { ok, seconds, other } = await load(subject)
    const [service = 0, database = 0] = cpu().map((value, at) => ((value - from[at]!) * 1e6) / ok)
    return { perSecond: ok / seconds, service, database, other }
  }
  const rounds = await runRounds({
    title: '200s per second, and µs of CPU for each of service and database, on PostgreSQL',
    count: scene.settings.rounds,
    async measure() {
      const [old, own] = [await cost(before), await cost(now)]
      return {
        before: old.perSecond,
        now: own.perSecond,
        'service before': old.service,
        'service now': own.service,
        'database before': old.database,
        'database now': own.database,
        'not 200': old.other + own.other,
        ratio: own.perSecond / old.perSecond,
      }
    },
  })
  return medianOf(rounds, 'ratio')
}

/** Starts the service of both trees, and puts each under load until V8 has compiled it. */
async function openTrees(scene: Scene, start: (name: string, tree: string) => Promise<Subject>) {
  const before = await start('before', resolve(scene.settings.tree))
  const now = await start('now', THIS_TREE)
  const { warmUpSeconds, seconds } = scene.settings
  // Each tree has its own database, so each has its own turn through the keys.
  const drivers = new Map<Subject, Awaited<ReturnType<typeof chooseDriver>>>()
  for (const subject of [before, now]) {
    const driver = await chooseDriver(scene, openKeys(scene, subject.name))
    drivers.set(subject, driver)
    await driver.run(subject, warmUpSeconds)
  }
  return { before, now, load: (subject: Subject) => drivers.get(subject)!.run(subject, seconds) }
}
