import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { type Driver, openDriver } from '../load/driver.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { askAtRate, KEYS, openBenchCluster, openKeys, type Scene } from '../scene.ts'
import { keysOf, seedPostgres } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'

const MANY_KEYS = 1_000_000
const HAMMERS = 500
const PROBES_PER_SECOND = 200
/** How long a load begins before a probe, and ends after it at the earliest. */
const BESIDE_SECONDS = 1

export async function measurePostgres(scene: Scene): Promise<Result[]> {
  const { children } = scene
  const cluster = await openBenchCluster(scene)
  console.log('seeding 100,000 keys and 1,000,000 keys of owners with one server')
  const [url, urlOfMany] = [await createDatabase(cluster), await createDatabase(cluster)]
  await seedPostgres(url, KEYS, 1)
  await seedPostgres(urlOfMany, MANY_KEYS, 1)
  const few = await startServe(children, 'of 100,000', url)
  const many = await startServe(children, 'of 1,000,000', urlOfMany)
  const ratio = await measureKeys(scene, few, many, cluster.postmasterPid())
  const hotKey = await measureHotKey(scene, few)
  return [
    ['CPU time per 200, 1,000,000 keys / 100,000 keys', ratio, '≤ 1.4'],
    [`p99 of others beside ${HAMMERS} connections: on one key / spread`, hotKey, '≤ 1.25'],
  ]
}

/** What a 200 costs more in service and PostgreSQL if there are more keys, as many in use. */
async function measureKeys(scene: Scene, few: Subject, many: Subject, postmaster: number) {
  const { rounds, seconds, warmUpSeconds } = scene.settings
  const drivers = new Map([
    [few, openDriver(scene, openKeys(scene, 'few'))],
    [many, openDriver(scene, openKeys(scene, 'many', keysOf(KEYS, MANY_KEYS / KEYS)))],
  ])
  for (const [subject, driver] of drivers) await driver.run(subject, warmUpSeconds)
  const cost = async (subject: Subject) => {
    const cpu = () => cpuSecondsOf(subject.pid) + cpuSecondsOfFamily(postmaster)
    const before = cpu()
    const { ok } = await drivers.get(subject)!.run(subject, seconds)
    return ((cpu() - before) * 1e6) / ok
  }
  const measured = await runRounds({
    title: 'CPU time of service and PostgreSQL for a 200, in µs',
    count: rounds,
    async measure() {
      const [base, more] = [await cost(few), await cost(many)]
      return { [few.name]: base, [many.name]: more, ratio: more / base }
    },
  })
  return medianOf(measured, 'ratio')
}

/** The p99 of clients with keys of their own, beside connections that use one key or 500. */
async function measureHotKey(scene: Scene, subject: Subject): Promise<number> {
  const { rounds, seconds } = scene.settings
  const all = keysOf(KEYS)
  const hammerWith = (name: string, count: number) =>
    openDriver(scene, openKeys(scene, name, all.slice(0, count)), HAMMERS)
  const [onOneKey, spread] = [hammerWith('one', 1), hammerWith('spread', HAMMERS)]
  // Enough keys that each is used at most once per second.
  const probes = openKeys(scene, 'probes', all.slice(-10 * PROBES_PER_SECOND))

  async function p99Beside(hammer: Driver): Promise<number> {
    const load = hammer.run(subject, seconds + 1 + 2 * BESIDE_SECONDS)
    await delay(BESIDE_SECONDS * 1000)
    const pace = { rate: PROBES_PER_SECOND, seconds, uncountedSeconds: 1 }
    const probe = await askAtRate(scene, subject, probes, pace)
    await load
    const { p99, other, unanswered } = probe
    if (other + unanswered > 0) throw new Error(`${other} + ${unanswered} probes were not 200`)
    return p99
  }

  const measured = await runRounds({
    title: `p99 in ms of 200 requests per second with other keys, beside ${HAMMERS} connections`,
    count: rounds,
    async measure() {
      const [one, many] = [await p99Beside(onOneKey), await p99Beside(spread)]
      return { 'on one key': one, spread: many, ratio: one / many }
    },
  })
  return medianOf(measured, 'ratio')
}
