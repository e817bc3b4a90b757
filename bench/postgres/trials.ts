import { CONNECTIONS, type Driver } from '../load.ts'
import { median } from '../median.ts'
import type { Subject } from '../subject.ts'
import type { Suite } from '../trials.ts'
import { IN_FLIGHT } from './claims.ts'
import { HAMMERS, openScene, type Scene } from './scene.ts'

export const POSTGRES: Suite<Scene> = {
  open: openScene,
  trials: [
    {
      description: `claims per second of the store alone, ${IN_FLIGHT} in flight`,
      target: { atLeast: 25_000, unit: '/s' },
      measure: measureClaims,
    },
    {
      description: 'CPU time per claim, 1,000,000 keys / 100,000 keys',
      target: { atMost: 1.4, unit: '' },
      measure: measureMany,
    },
    {
      description: '200s per second, service / with batches of one',
      target: { atLeast: 3, unit: '' },
      measure: measureBatches,
    },
    {
      description: `p99 of others beside ${HAMMERS} connections: on one key / spread`,
      target: { atMost: 1.25, unit: '' },
      measure: measureHotKey,
    },
  ],
}

async function measureClaims({ settings, print, claims }: Scene): Promise<number> {
  print('claims of the store alone, 100,000 keys')
  const rates: number[] = []
  for (let round = 1; round <= settings.rounds; round += 1) {
    const { claims: done, seconds, cpuSeconds } = await claims.round(settings.seconds)
    rates.push(done / seconds)
    const cost = `${((cpuSeconds / done) * 1e6).toFixed(1).padStart(6)} µs of CPU time each, both sides`
    print(`${String(round).padStart(7)}${(done / seconds).toFixed(0).padStart(10)}/s  ${cost}`)
  }
  return median(rates)
}

async function measureMany({ settings, print, claims, claimsOfMany }: Scene): Promise<number> {
  print('CPU time per claim in µs, both sides; 100,000 different keys asked with')
  print('  round   of 100,000   of 1,000,000   ratio')
  const ratios: number[] = []
  for (let round = 1; round <= settings.rounds; round += 1) {
    const [few, many] = [
      await claims.round(settings.seconds),
      await claimsOfMany.round(settings.seconds),
    ].map((claimed) => (claimed.cpuSeconds / claimed.claims) * 1e6) as [number, number]
    ratios.push(many / few)
    const columns = [few.toFixed(1).padStart(13), many.toFixed(1).padStart(15)]
    print(`${String(round).padStart(7)}${columns.join('')}${(many / few).toFixed(3).padStart(8)}`)
  }
  return median(ratios)
}

async function measureBatches(scene: Scene): Promise<number> {
  const { settings, print, batched, oneByOne } = scene
  for (const subject of [batched, oneByOne]) await askInTurn(scene, subject, settings.warmUpSeconds)
  print(`200s per second, under ${scene.inTurn.name}`)
  print('  round   batched   one by one   ratio')
  const ratios: number[] = []
  for (let round = 1; round <= settings.rounds; round += 1) {
    const many = await askInTurn(scene, batched, settings.seconds)
    const one = await askInTurn(scene, oneByOne, settings.seconds)
    ratios.push(many / one)
    const columns = [many.toFixed(0).padStart(10), one.toFixed(0).padStart(13)]
    print(`${String(round).padStart(7)}${columns.join('')}${(many / one).toFixed(2).padStart(8)}`)
  }
  return median(ratios)
}

/** The two services share their keys, so their position is one. */
async function askInTurn({ inTurn, batched }: Scene, subject: Subject, seconds: number) {
  const { ok, other, seconds: took } = await inTurn.run(subject.port, seconds, batched.nextKey)
  batched.nextKey += ok + other + CONNECTIONS
  return ok / took
}

async function measureHotKey(scene: Scene): Promise<number> {
  const { settings, print } = scene
  print(`p99 in ms of 200 requests a second with other keys, beside ${HAMMERS} connections`)
  print('  round   on one key    spread   ratio')
  const ratios: number[] = []
  for (let round = 1; round <= settings.rounds; round += 1) {
    const one = await probeBeside(scene, scene.onOneKey)
    const spread = await probeBeside(scene, scene.spread)
    ratios.push(one / spread)
    const columns = [one.toFixed(1).padStart(13), spread.toFixed(1).padStart(10)]
    print(`${String(round).padStart(7)}${columns.join('')}${(one / spread).toFixed(2).padStart(8)}`)
  }
  return median(ratios)
}

async function probeBeside({ batched, probe, settings }: Scene, hammer: Driver): Promise<number> {
  // The load lasts longer on either side.
  const load = hammer.run(batched.port, settings.seconds + 3, 0)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const { p99, other, unanswered } = await probe(settings.seconds)
  await load
  if (other + unanswered > 0) throw new Error(`${other} + ${unanswered} probes were not 200`)
  return p99
}
