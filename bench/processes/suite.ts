import type { Cluster } from '../../test/fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'
import { openDriver, type Driver } from '../load/driver.ts'
import { openBenchCluster } from '../postgres/suite.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { keysOf, seedPostgres } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import { openTable, type Result } from '../table.ts'

/** Processes that share a port. */
const COUNTS = [1, 2, 4, 8]
const CONNECTIONS = 128
const HOT_KEYS = 20

/** Processes on one port. */
interface Group {
  processes: Subject[]
}

export async function measureProcesses(scene: Scene): Promise<Result[]> {
  const cluster = await openBenchCluster(scene)
  const url = await createDatabase(cluster)
  console.log('seeding 100,000 keys of owners with ten servers')
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  const groups: Group[] = []
  for (const count of COUNTS) groups.push(await startGroup(scene, url, count))
  const results = await measureThroughput(scene, groups, cluster)
  return [...results, await measureExactness(scene, groups, url)]
}

async function startGroup({ children }: Scene, url: string, count: number): Promise<Group> {
  const processes: Subject[] = []
  while (processes.length < count) {
    const PORT = String(processes[0]?.port ?? 0)
    const name = `${processes.length + 1} of ${count}`
    processes.push(await startServe(children, name, url, undefined, { REUSE_PORT: 'on', PORT }))
  }
  return { processes }
}

async function measureThroughput(
  scene: Scene,
  groups: readonly Group[],
  cluster: Cluster,
): Promise<Result[]> {
  const { rounds, seconds, warmUpSeconds } = scene.settings
  const pid = cluster.postmasterPid()
  const driver = openDriver(scene, openKeys(scene, 'bench'), CONNECTIONS)
  const cpuOf = ({ processes }: Group) =>
    processes.reduce((sum, one) => sum + cpuSecondsOf(one.pid), 0) + cpuSecondsOfFamily(pid)
  for (const { processes } of groups) await driver.run(processes[0]!, warmUpSeconds)
  const measured = await runRounds({
    title: `200s per second, and CPU time per 200 in µs, under ${driver.name}`,
    count: rounds,
    async measure() {
      const row: Record<string, number> = {}
      for (const group of groups) {
        const before = cpuOf(group)
        const { ok, seconds: took } = await driver.run(group.processes[0]!, seconds)
        const count = group.processes.length
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

/** The database notes each stamp while many connections use a few keys. */
async function measureExactness(
  scene: Scene,
  groups: readonly Group[],
  url: string,
): Promise<Result> {
  await asAdmin(url, (client) =>
    client.query(`
      CREATE TABLE stamps (api_key_id uuid, claimed_at timestamptz);
      CREATE FUNCTION note_stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO stamps VALUES (NEW.id, NEW.last_used_at); RETURN NULL; END$$;
      CREATE TRIGGER note_stamp AFTER UPDATE OF last_used_at ON api_keys
        FOR EACH ROW EXECUTE FUNCTION note_stamp()`),
  )
  const keys = openKeys(scene, 'hot', keysOf(KEYS).slice(0, HOT_KEYS))
  const driver = openDriver(scene, keys, CONNECTIONS)
  const title = `${CONNECTIONS} connections use ${HOT_KEYS} keys; seconds between stamps of a key`
  const printRow = openTable(title, 'count')
  const gaps: number[] = []
  for (const { processes } of groups) {
    const row = await hammer(driver, processes[0]!, url, scene.settings.seconds)
    printRow(String(processes.length), row)
    gaps.push(row['least gap'])
  }
  return ['least time between two 200s of a key', Math.min(...gaps), '≥ 1 s']
}

async function hammer(driver: Driver, subject: Subject, url: string, seconds: number) {
  await asAdmin(url, (client) => client.query('TRUNCATE stamps'))
  const { ok, other } = await driver.run(subject, seconds)
  const { rows } = await asAdmin(url, (client) =>
    client.query(`
      SELECT count(*)::int AS stamps, min(gap)::float AS least FROM (
        SELECT extract(epoch FROM claimed_at - lag(claimed_at) OVER (PARTITION BY api_key_id ORDER BY claimed_at)) AS gap
        FROM stamps
      ) AS stamps`),
  )
  return { '200s': ok, 'not 200': other, stamps: rows[0].stamps, 'least gap': rows[0].least }
}
