import { join, resolve } from 'node:path'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { openDriver, type Driver } from '../load/driver.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openBenchCluster, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { startServe, type Subject } from '../subject.ts'
import { keysOf } from '../seed.ts'
import type { Result } from '../table.ts'

const THIS_TREE = join(import.meta.dirname, '../..')

type Seed = typeof import('../seed.ts')

/**
 * Compares this tree with an older one, each on databases that it has seeded itself: their schemas
 * may differ.
 */
export async function measureBefore(scene: Scene): Promise<Result[]> {
  const [onSqlite, onPostgres] = [await measureSqlite(scene), await measurePostgres(scene)]
  return [
    ['200s per CPU second on SQLite, now / before', medianOf(onSqlite, 'ratio'), '≥ 0.97'],
    ['429s per CPU second on SQLite, now / before', medianOf(onSqlite, '429s'), '≥ 0.97'],
    ['200s per second on PostgreSQL, now / before', medianOf(onPostgres, 'ratio'), '≥ 0.97'],
    ['429s per CPU second on PostgreSQL, now / before', medianOf(onPostgres, '429s'), '≥ 0.97'],
  ]
}

async function measureSqlite(scene: Scene) {
  const start = async (name: string, tree: string) => {
    const { seedSqlite }: Seed = await import(join(tree, 'bench/seed.ts'))
    const path = join(scene.folder, `${name}.db`)
    await seedSqlite(path, KEYS, SERVERS_PER_OWNER)
    return startServe(scene.children, name, `sqlite:${path}`, tree)
  }
  const { before, now, load, costOfLimited } = await openTrees(scene, start)
  return runRounds({
    title: '200s per CPU second of the service, on SQLite',
    count: scene.settings.rounds,
    async measure() {
      const [old, own] = [await load(before), await load(now)]
      return {
        before: old.perCpuSecond,
        now: own.perCpuSecond,
        'not 200': old.other + own.other,
        ratio: own.perCpuSecond / old.perCpuSecond,
        '429s': (await costOfLimited(before)) / (await costOfLimited(now)),
      }
    },
  })
}

async function measurePostgres(scene: Scene) {
  const cluster = await openBenchCluster(scene)
  const start = async (name: string, tree: string) => {
    const { seedPostgres }: Seed = await import(join(tree, 'bench/seed.ts'))
    const url = await createDatabase(cluster)
    await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
    return startServe(scene.children, name, url, tree)
  }
  const { before, now, load, costOfLimited } = await openTrees(scene, start)
  const cost = async (subject: Subject) => {
    const cpu = () => [cpuSecondsOf(subject.pid), cpuSecondsOfFamily(cluster.postmasterPid())]
    const from = cpu()
    const { ok, seconds, other } = await load(subject)
    const [service = 0, database = 0] = cpu().map((value, at) => ((value - from[at]!) * 1e6) / ok)
    return { perSecond: ok / seconds, service, database, other }
  }
  return runRounds({
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
        '429s': (await costOfLimited(before)) / (await costOfLimited(now)),
      }
    },
  })
}

/** Starts the service of both trees, and puts each under load until V8 has compiled it. */
async function openTrees(scene: Scene, start: (name: string, tree: string) => Promise<Subject>) {
  const before = await start('before', resolve(scene.settings.tree))
  const now = await start('now', THIS_TREE)
  const { warmUpSeconds, seconds } = scene.settings
  // Each tree has its own database, so each has its own turn through the keys.
  const drivers = new Map<Subject, Record<'all' | 'one', Driver>>()
  for (const subject of [before, now]) {
    const all = openDriver(scene, openKeys(scene, subject.name))
    const one = openDriver(scene, openKeys(scene, `${subject.name}-one`, keysOf(1)))
    drivers.set(subject, { all, one })
    for (const driver of [all, one]) await driver.run(subject, warmUpSeconds)
  }
  return {
    before,
    now,
    load: (subject: Subject) => drivers.get(subject)!.all.run(subject, seconds),
    /** Microseconds of the service's CPU time for an answer to one busy key. */
    costOfLimited: async (subject: Subject) =>
      (await drivers.get(subject)!.one.run(subject, seconds)).cpu,
  }
}
