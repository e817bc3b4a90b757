import { median } from '../median.ts'
import { isCalm, stolenColumn, type Timed, watchStolen } from '../stolen.ts'
import type { Suite } from '../trials.ts'
import type { Seen } from './crowd.ts'
import { BUSY_CONNECTIONS, CLAIMS_PER_SECOND, CROWD_KEYS, openScene, type Scene } from './scene.ts'

/** The loads, as multiples of what the store decides. */
const LOADS = [1, 2, 5, 10]
/** A load is sent so many times at most, until one meets a calm machine; where none does, the calmest counts. */
const TRIES_MAX = 4
const WARM_UP_SECONDS = 4

export const OVERLOAD: Suite<Scene> = {
  open: openScene,
  trials: [
    {
      description: '200s per second / what the store decides, at the worst of the loads',
      target: { atLeast: 0.9, unit: '' },
      measure: measureLoads,
    },
    {
      description: 'p99 of GET /health beside them, at the worst',
      target: { below: 100, unit: ' ms' },
      measure: async ({ seen }) => Math.max(...seen.map(({ health }) => health.p99)),
    },
    {
      description: 'from the end of a load to the last answer that is no normal one',
      target: { below: 2_000, unit: ' ms' },
      measure: async ({ seen }) => Math.max(...seen.map(({ recovery }) => recovery)),
    },
    {
      description: '200s per CPU second, 2,000 connections / the best of 16, 64, 256',
      target: { atLeast: 0.75, unit: '' },
      measure: measureConnections,
    },
  ],
}

/**
 * Each load in turn, on services that have been at it for a while: every key was used before, and one load as large as
 * the largest has had them compiled.
 */
async function measureLoads(scene: Scene): Promise<number> {
  const { print, settings, slowed, seen } = scene
  const seconds = settings.seconds + 1
  const most = Math.max(...LOADS) * CLAIMS_PER_SECOND
  for (const { send } of slowed) {
    await send({ rate: CLAIMS_PER_SECOND, seconds: Math.ceil(CROWD_KEYS / CLAIMS_PER_SECOND) })
    await send({ rate: most, seconds: WARM_UP_SECONDS })
  }
  print(`a store that decides ${CLAIMS_PER_SECOND} a second, and what is asked of it; times in ms`)
  print(
    '  engine        asked/s    200s/s    shed  unanswered  unsent   p99 of 200s  p99 of health  recovery   stolen',
  )
  for (const { engine, send } of slowed)
    for (const load of LOADS) {
      const rate = load * CLAIMS_PER_SECOND
      const tries: (Seen & Timed)[] = []
      while (tries.length < TRIES_MAX && !tries.some(isCalm)) {
        const readStolen = watchStolen()
        const one = { ...(await send({ rate, seconds })), stolen: readStolen() }
        print(rowOf(engine, rate, one))
        tries.push(one)
      }
      seen.push(tries.toSorted((a, b) => a.stolen - b.stolen)[0]!)
    }
  return Math.min(...seen.map(({ goodput }) => goodput)) / CLAIMS_PER_SECOND
}

function rowOf(engine: string, rate: number, one: Seen & Timed): string {
  const { goodput, shed, unanswered, unsent, p99, health, recovery } = one
  return [
    `  ${engine.padEnd(12)}`,
    String(rate).padStart(9),
    goodput.toFixed(0).padStart(10),
    String(shed).padStart(8),
    String(unanswered).padStart(12),
    String(unsent).padStart(8),
    p99.toFixed(0).padStart(14),
    health.p99.toFixed(0).padStart(15),
    recovery.toFixed(0).padStart(10),
    stolenColumn(one),
  ].join('')
}

/** All numbers of connections in turn, so that each has the same share of whatever else goes on in the machine. */
async function measureConnections(scene: Scene): Promise<number> {
  const { print, settings, service, drivers, keys } = scene
  print(
    `200s per CPU second, under ${drivers[0]!.name.split(',')[0]}, by the number of connections`,
  )
  print(`  round${BUSY_CONNECTIONS.map((count) => String(count).padStart(9)).join('')}   ratio`)
  const ratios: number[] = []
  for (let round = 0; round <= settings.rounds; round += 1) {
    const rates: number[] = []
    for (const [place, driver] of drivers.entries()) {
      const before = service.cpuSeconds()
      const { ok, other } = await driver.run(service.port, settings.seconds, service.nextKey)
      rates.push(ok / (service.cpuSeconds() - before))
      service.nextKey = (service.nextKey + ok + other + BUSY_CONNECTIONS[place]!) % keys
    }
    // In the first the service is still being compiled.
    if (round === 0) continue
    const ratio = rates.at(-1)! / Math.max(...rates.slice(0, -1))
    ratios.push(ratio)
    const columns = rates.map((rate) => rate.toFixed(0).padStart(9)).join('')
    print(`${String(round).padStart(7)}${columns}${ratio.toFixed(3).padStart(8)}`)
  }
  return median(ratios)
}
