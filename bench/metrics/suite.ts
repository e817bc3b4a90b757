import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../test/fixtures/free-port.ts'
import { printInterval } from '../bootstrap.ts'
import { chooseDriver, type Driver } from '../load/driver.ts'
import { residentMbOf } from '../proc.ts'
import { median, medianOf, runRounds } from '../rounds.ts'
import { installPackage, openFile, openKeys, type Scene } from '../scene.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { installSwitchedMetrics, installWithoutMetrics } from './variants.ts'

/** Pairs of a turn with metrics and one without them, in one round. */
const PAIRS = 20
const TURN_SECONDS = 1
/** More requests than are under way when a turn ends. */
const LATE_MAX = 500
/** Until a service without requests has read its schema and probed its database a few times. */
const IDLE_MS = 3_000

/** A tree of the program, with a file of its own. */
interface Variant {
  name: string
  tree: string
  url: string
}

interface Started {
  subject: Subject
  /** Reads `/metrics`, as Prometheus does. Returns the requests that the service has counted. */
  scrape(): Promise<number>
}

type Turn = 'with' | 'without'

export async function measureMetrics(scene: Scene): Promise<Result[]> {
  const file = await openFile(scene, 'with.db')
  const copy = join(scene.folder, 'without.db')
  cpSync(file, copy)
  const installed = installPackage(scene)
  const without = await installWithoutMetrics(installed, join(scene.folder, 'without'))
  const switched = await installSwitchedMetrics(installed, join(scene.folder, 'switched'))
  const more = await measureMemory(scene, [
    { name: 'with', tree: installed, url: `sqlite:${file}` },
    { name: 'without', tree: without, url: `sqlite:${copy}` },
  ])
  const ratio = await measureCpu(scene, { name: 'switched', tree: switched, url: `sqlite:${file}` })
  return [['CPU time per 200, with metrics / without', ratio, '≤ 1.01'], more]
}

/**
 * Switches the metrics of one process, since two processes of one program differ by more than
 * metrics cost. Returns the median of all pairs, because a machine's speed changes.
 */
async function measureCpu(scene: Scene, variant: Variant): Promise<number> {
  const { rounds, warmUpSeconds } = scene.settings
  const driver = await chooseDriver(scene, openKeys(scene, variant.name))
  const ratios: number[] = []
  await runRounds({
    title: 'µs of CPU time for a 200, and the ratio as the median of the pairs of a round',
    // An even number, so that both orders are equally frequent.
    count: 2 * Math.ceil(rounds / 2),
    async measure(number) {
      const started = await start(scene, variant)
      await warmUp(driver, started, Math.ceil(warmUpSeconds / 5))
      const order: Turn[] = number % 2 === 0 ? ['without', 'with'] : ['with', 'without']
      if (order[0] === 'without') switchMetrics(started)
      const pairs = []
      for (let index = 0; index < PAIRS; index += 1) {
        const pair = { with: 0, without: 0 }
        for (const turn of order) pair[turn] = await takeTurn(driver, started, turn, TURN_SECONDS)
        pairs.push(pair)
      }
      await started.subject.end()
      const ofPairs = pairs.map((pair) => pair.with / pair.without)
      ratios.push(...ofPairs)
      return {
        with: medianOf(pairs, 'with'),
        without: medianOf(pairs, 'without'),
        ratio: median(ofPairs),
      }
    },
  })
  return printInterval('ratio', ratios, median)
}

/** A turn of each kind. Throws unless the service counts the requests of the first one only. */
async function warmUp(driver: Driver, started: Started, seconds: number): Promise<void> {
  await takeTurn(driver, started, 'with', seconds)
  const counted = await started.scrape()
  await takeTurn(driver, started, 'without', seconds)
  const more = (await started.scrape()) - counted
  // The last requests of a turn may be answered after the switch.
  if (counted < LATE_MAX || more > LATE_MAX)
    throw new Error(`with metrics ${counted} requests were counted, and without them ${more}`)
}

/** Returns the microseconds of CPU time for a 200. Then switches the metrics for the next turn. */
async function takeTurn(
  driver: Driver,
  started: Started,
  turn: Turn,
  seconds: number,
): Promise<number> {
  const scraped = turn === 'with' ? started.scrape() : null
  const [{ cpu, other }] = await Promise.all([driver.run(started.subject, seconds), scraped])
  if (other > 0) throw new Error(`${other} answers of the service were no 200`)
  switchMetrics(started)
  return cpu
}

function switchMetrics({ subject }: Started): void {
  process.kill(subject.pid, 'SIGUSR2')
}

/** The resident memory of services that have just started and get no request. */
async function measureMemory(scene: Scene, variants: readonly Variant[]): Promise<Result> {
  const counted = await runRounds({
    title: 'resident memory without requests, in MiB',
    count: scene.settings.rounds,
    async measure() {
      const started: Started[] = []
      // Services that start at the same time differ by megabytes.
      for (const variant of variants) started.push(await start(scene, variant))
      await started[0]!.scrape()
      await delay(IDLE_MS)
      const [withMetrics, without] = started.map(({ subject }) => residentMbOf(subject.pid))
      for (const { subject } of started) await subject.end()
      return { with: withMetrics!, without: without! }
    },
  })
  const more = medianOf(counted, 'with') - medianOf(counted, 'without')
  return ['resident memory when idle, with metrics and health - without', more, '≤ 5 MiB']
}

async function start({ children }: Scene, { name, tree, url }: Variant): Promise<Started> {
  const port = await freePort()
  const subject = await startServe(children, name, url, tree, { OPS_PORT: String(port) })
  return { subject, scrape: () => scrapeAt(port) }
}

async function scrapeAt(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await response.text()
  if (!text.includes('server_listing_build_info')) throw new Error(`no metrics: ${text}`)
  const counts = [...text.matchAll(/^server_listing_requests_total\{.*\} (\d+)$/gm)]
  return counts.reduce((total, [, count]) => total + Number(count), 0)
}
