import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '../../test/fixtures/postgres/cluster.ts'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { openDriver, type Driver } from '../load/driver.ts'
import { medianOf, runRounds } from '../rounds.ts'
import {
  askAtRate,
  KEYS,
  openCluster,
  openKeys,
  type Scene,
  SERVERS_PER_OWNER,
  type Settings,
} from '../scene.ts'
import { keysOf, seedPostgres } from '../seed.ts'
import { startServe, startSubject, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { type Claim, IN_FLIGHT, openClaims } from './claims.ts'

const MANY_KEYS = 1_000_000
const HAMMERS = 500
const PROBES_PER_SECOND = 200
/** How long a load begins before a probe, and ends after it at the earliest. */
const BESIDE_SECONDS = 1

export async function measurePostgres(scene: Scene): Promise<Result[]> {
  const { settings, children } = scene
  const cluster = await openBenchCluster(scene)
  console.log('seeding 100,000 keys of owners with ten servers, and 1,000,000 of owners with one')
  const [url, urlOfMany] = [await createDatabase(cluster), await createDatabase(cluster)]
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  await seedPostgres(urlOfMany, MANY_KEYS, 1)
  const batched = await startServe(children, 'batched', url)
  const program = [process.execPath, join(import.meta.dirname, 'one-by-one-main.ts'), url] as const
  const oneByOne = await startSubject(children, 'one by one', program)
  const pid = cluster.postmasterPid()
  const claim = await openClaims(scene, url, keysOf(KEYS), pid)
  const claimOfMany = await openClaims(scene, urlOfMany, keysOf(KEYS, MANY_KEYS / KEYS), pid)
  const { perSecond, ratio } = await measureClaims(settings, claim, claimOfMany)
  const batches = await measureBatches(scene, batched, oneByOne)
  const hotKey = await measureHotKey(scene, batched)
  return [
    [`claims per second of the store alone, ${IN_FLIGHT} in flight`, perSecond, '≥ 25000 /s'],
    ['CPU time per claim, 1,000,000 keys / 100,000 keys', ratio, '≤ 1.4'],
    ['200s per second, service / with batches of one', batches, '≥ 3'],
    [`p99 of others beside ${HAMMERS} connections: on one key / spread`, hotKey, '≤ 1.25'],
  ]
}

/** A cluster that writes as durably as an operator's, without a checkpoint during a run. */
export function openBenchCluster(scene: Scene): Promise<Cluster> {
  return openCluster(scene, {
    fsync: 'on',
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
  })
}

/** Returns claims per second with 100,000 keys, and what a claim among 1,000,000 costs more. */
async function measureClaims({ rounds, seconds }: Settings, claim: Claim, claimOfMany: Claim) {
  const measured = await runRounds({
    title: 'the store alone: claims per second, and CPU time of service and PostgreSQL in µs',
    count: rounds,
    async measure() {
      const [few, many] = [await claim(seconds), await claimOfMany(seconds)]
      return {
        'per second': few.perSecond,
        'of 100,000': few.cpu,
        'of 1,000,000': many.cpu,
        ratio: many.cpu / few.cpu,
      }
    },
  })
  return {
    perSecond: medianOf(measured, 'per second'),
    ratio: medianOf(measured, 'ratio'),
  }
}

async function measureBatches(scene: Scene, batched: Subject, oneByOne: Subject): Promise<number> {
  const { rounds, seconds, warmUpSeconds } = scene.settings
  // The two services share their keys, so they use them in one turn.
  const driver = openDriver(scene, openKeys(scene, 'bench'))
  for (const subject of [batched, oneByOne]) await driver.run(subject, warmUpSeconds)
  const perSecond = async (subject: Subject) => {
    const { ok, seconds: took } = await driver.run(subject, seconds)
    return ok / took
  }
  const measured = await runRounds({
    title: `200s per second, under ${driver.name}`,
    count: rounds,
    async measure() {
      const [many, one] = [await perSecond(batched), await perSecond(oneByOne)]
      return { batched: many, 'one by one': one, ratio: many / one }
    },
  })
  return medianOf(measured, 'ratio')
}

/** The p99 of clients with keys of their own, beside connections that use one key or 500. */
async function measureHotKey(scene: Scene, batched: Subject): Promise<number> {
  const { rounds, seconds } = scene.settings
  const all = keysOf(KEYS)
  const hammerWith = (name: string, count: number) =>
    openDriver(scene, openKeys(scene, name, all.slice(0, count)), HAMMERS)
  const [onOneKey, spread] = [hammerWith('one', 1), hammerWith('spread', HAMMERS)]
  // Enough keys that each is used at most once per second.
  const probes = openKeys(scene, 'probes', all.slice(-10 * PROBES_PER_SECOND))

  async function p99Beside(hammer: Driver): Promise<number> {
    const load = hammer.run(batched, seconds + 1 + 2 * BESIDE_SECONDS)
    await delay(BESIDE_SECONDS * 1000)
    const pace = { rate: PROBES_PER_SECOND, seconds, uncountedSeconds: 1 }
    const probe = await askAtRate(scene, batched, probes, pace)
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
