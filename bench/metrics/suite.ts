import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../test/fixtures/postgres/cluster.ts'
import { printInterval } from '../bootstrap.ts'
import { chooseDriver, type Driver } from '../load/driver.ts'
import { residentMbOf } from '../proc.ts'
import { median, medianOf, runRounds } from '../rounds.ts'
import { installPackage, openFile, openKeys, type Scene } from '../scene.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { installWithoutMetrics } from './without.ts'

/** Turns of each of the two services in one round. */
const TURNS = 3
/** Until a service without requests has read its schema and probed its database a few times. */
const IDLE_MS = 3_000

/** The installed package as it is, or the one without metrics, with a file of its own. */
interface Variant {
  name: string
  tree: string
  url: string
  driver: Driver
  /** Reads `/metrics`, as Prometheus does. */
  isScraped: boolean
}

interface Started {
  subject: Subject
  scrape(): Promise<void>
}

export async function measureMetrics(scene: Scene): Promise<Result[]> {
  const file = await openFile(scene, 'with.db')
  const installed = installPackage(scene)
  const without = await installWithoutMetrics(installed, join(scene.folder, 'without'))
  const copy = join(scene.folder, 'without.db')
  cpSync(file, copy)
  const pair = [
    await variantOf(scene, 'with', installed, file),
    await variantOf(scene, 'without', without, copy),
  ] as const
  const more = await measureMemory(scene, pair)
  return [
    ['CPU time per 200, with metrics / without', await measureCpu(scene, pair), '≤ 1.01'],
    more,
  ]
}

async function variantOf(scene: Scene, name: string, tree: string, file: string): Promise<Variant> {
  const driver = await chooseDriver(scene, openKeys(scene, name))
  return { name, tree, url: `sqlite:${file}`, driver, isScraped: name === 'with' }
}

/** Starts both anew in every round, because two processes of one program differ in their cost. */
async function measureCpu(scene: Scene, pair: readonly [Variant, Variant]): Promise<number> {
  const { rounds, seconds, warmUpSeconds } = scene.settings
  const counted = await runRounds({
    title: 'µs of CPU time for a 200',
    count: rounds,
    async measure(number) {
      // Every other round begins with the service without metrics.
      const variants = number % 2 === 0 ? pair.toReversed() : pair
      const started = await startAll(scene, variants)
      const costs = new Map(variants.map((variant) => [variant, [] as number[]]))
      for (const variant of variants) await load(variant, started.get(variant)!, warmUpSeconds / 5)
      for (let turn = 0; turn < TURNS; turn += 1)
        for (const variant of variants)
          costs.get(variant)!.push(await load(variant, started.get(variant)!, seconds / 2))
      await endAll(started)
      const [withMetrics, without] = pair.map((variant) => median(costs.get(variant)!))
      return { with: withMetrics!, without: without!, ratio: withMetrics! / without! }
    },
  })
  return printInterval('ratio', counted, (some) => medianOf(some, 'ratio'))
}

/** Returns the microseconds of CPU time for a 200. */
async function load(variant: Variant, { subject, scrape }: Started, seconds: number) {
  const [{ cpu, other }] = await Promise.all([
    variant.driver.run(subject, Math.max(1, Math.round(seconds))),
    scrape(),
  ])
  if (other > 0) throw new Error(`${other} answers of '${variant.name}' were no 200`)
  return cpu
}

/** The resident memory of services that have just started and get no request. */
async function measureMemory(scene: Scene, pair: readonly [Variant, Variant]): Promise<Result> {
  const counted = await runRounds({
    title: 'resident memory without requests, in MiB',
    count: scene.settings.rounds,
    async measure() {
      const started = await startAll(scene, pair)
      await Promise.all([...started.values()].map(({ scrape }) => scrape()))
      await delay(IDLE_MS)
      const [withMetrics, without] = pair.map((each) =>
        residentMbOf(started.get(each)!.subject.pid),
      )
      await endAll(started)
      return { with: withMetrics!, without: without! }
    },
  })
  const more = medianOf(counted, 'with') - medianOf(counted, 'without')
  return ['resident memory when idle, with metrics and health - without', more, '≤ 5 MiB']
}

async function startAll(scene: Scene, variants: readonly Variant[]) {
  const started = new Map<Variant, Started>()
  for (const variant of variants) {
    const port = await freePort()
    const subject = await startServe(scene.children, variant.name, variant.url, variant.tree, {
      OPS_PORT: String(port),
    })
    const scrape = variant.isScraped ? () => scrapeAt(port) : async () => {}
    started.set(variant, { subject, scrape })
  }
  return started
}

async function endAll(started: ReadonlyMap<Variant, Started>): Promise<void> {
  for (const { subject } of started.values()) await subject.end()
}

async function scrapeAt(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await response.text()
  if (!text.includes('server_listing_build_info')) throw new Error(`no metrics: ${text}`)
}
