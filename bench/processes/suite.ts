import type { Cluster } from '../../test/fixtures/postgres/cluster.ts'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { openDriver } from '../load/driver.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openBenchCluster, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { seedPostgres } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'

/** Processes that share a port. */
const COUNTS = [1, 2, 4, 8]
const CONNECTIONS = 128

export async function measureProcesses(scene: Scene): Promise<Result[]> {
  const cluster = await openBenchCluster(scene)
  const url = await createDatabase(cluster)
  console.log('seeding 100,000 keys of owners with ten servers')
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  const groups: Subject[][] = []
  for (const count of COUNTS) groups.push(await startGroup(scene, url, count))
  return measureThroughput(scene, groups, cluster)
}

async function startGroup({ children }: Scene, url: string, count: number): Promise<Subject[]> {
  const processes: Subject[] = []
  while (processes.length < count) {
    const PORT = String(processes[0]?.port ?? 0)
    const name = `${processes.length + 1} of ${count}`
    processes.push(await startServe(children, name, url, undefined, { REUSE_PORT: 'on', PORT }))
  }
  return processes
}

async function measureThroughput(
  scene: Scene,
  groups: readonly Subject[][],
  cluster: Cluster,
): Promise<Result[]> {
  const { rounds, seconds, warmUpSeconds } = scene.settings
  const pid = cluster.postmasterPid()
  const driver = openDriver(scene, openKeys(scene, 'bench'), CONNECTIONS)
  const cpuOf = (processes: readonly Subject[]) =>
    processes.reduce((sum, one) => sum + cpuSecondsOf(one.pid), 0) + cpuSecondsOfFamily(pid)
  for (const [first] of groups) await driver.run(first!, warmUpSeconds)
  const measured = await runRounds({
    title: `200s per second, and CPU time per 200 in µs, under ${driver.name}`,
    count: rounds,
    async measure() {
      const row: Record<string, number> = {}
      for (const group of groups) {
        const before = cpuOf(group)
        const { ok, seconds: took } = await driver.run(group[0]!, seconds)
        const count = group.length
        row[`${count}: /s`] = ok / took
        row[`${count}: µs`] = ((cpuOf(group) - before) * 1e6) / ok
      }
      return row
    },
  })
  const cpuWith = (count: number) => medianOf(measured, `${count}: µs`)
  return COUNTS.slice(1).map((count) => [
    `CPU time per 200 of service and PostgreSQL, ${count} processes / 1`,
    cpuWith(count) / cpuWith(1),
    '≤ 2.5',
  ])
}
