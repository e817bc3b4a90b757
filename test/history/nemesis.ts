import { setTimeout as delay } from 'node:timers/promises'
import { RETURN_MAX } from './check-liveness.ts'
import { isStep, refusedLonger } from './clock-steps.ts'
import { type Random, randomFrom } from './random.ts'
import { now } from './record.ts'
import { type Report, reportOn } from './report.ts'
import { type Operator, type Scene, setScene } from './scene.ts'
import type { StoreRecord } from './sqlite-record.ts'
import { startTraffic } from './traffic.ts'

/** Something that goes wrong. When it returns, it is over and everything runs. */
export type Fault = (random: Random, scene: Scene) => Promise<void>

/** What a nemesis is let loose on. */
export interface Battlefield {
  engine: string
  operator: Operator
  port(random: Random): number | null
  /** The faults of one group come one after the other, those of different groups at the same time. */
  groups: readonly Readonly<Record<string, Fault>>[]
  readRecord(scene: Scene): Promise<StoreRecord>
}

/** The longest pause of a busy client, in milliseconds. */
const PAUSE_MS = 70
/** After the last fault: every client has to be served again within `RETURN_MAX`, and is asked for longer than that. */
const CALM_MS = RETURN_MAX / 1_000 + 500

/** Traffic on the battlefield and faults drawn from the seed, for so many milliseconds, and what the checker finds. */
export async function runNemesis(
  { engine, operator, port, groups, readRecord }: Battlefield,
  seed: number,
  ms: number,
): Promise<Report> {
  const random = randomFrom(seed)
  const scene = await setScene(operator)
  const traffic = await startTraffic(scene, { port, random, pauseMs: PAUSE_MS })
  const counts = new Map<string, number>()
  const end = performance.now() + ms - CALM_MS
  await Promise.all(
    groups.map(async (faults) => {
      const own = random.branch()
      while (performance.now() < end) {
        await delay(own.between(50, 800))
        const name = own.pick(Object.keys(faults))
        counts.set(name, (counts.get(name) ?? 0) + 1)
        await faults[name]!(own, scene)
      }
    }),
  )
  const calmFrom = now()
  await delay(CALM_MS + refusedLonger(scene.operations.filter(isStep), calmFrom) / 1_000)
  await traffic.stop()
  const history = { ...(await readRecord(scene)), operations: scene.operations, calmFrom }
  return reportOn(engine, seed, history, counts)
}
