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

export interface NemesisOptions {
  seed: number
  /** How long it takes in all, in milliseconds. */
  ms: number
  /** The name of a fault that comes last, alone, so that what is served again has come back from this one. */
  last?: string
}

/** The longest pause of a busy client, in milliseconds. */
const PAUSE_MS = 70
/** After the last fault: every client has to be served again within `RETURN_MAX`, and is asked for longer than that. */
const CALM_MS = RETURN_MAX / 1_000 + 500

type Group = Battlefield['groups'][number]

/** Traffic on the battlefield and faults drawn from the seed, and what the checker finds. */
export async function runNemesis(
  { engine, operator, port, groups, readRecord }: Battlefield,
  { seed, ms, last }: NemesisOptions,
): Promise<Report> {
  const random = randomFrom(seed)
  const scene = await setScene(operator)
  const traffic = await startTraffic(scene, { port, random, pauseMs: PAUSE_MS })
  const counts = new Map<string, number>()
  const commit = async (faults: Group, name: string, own: Random) => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await faults[name]!(own, scene)
  }
  try {
    await disturb(groups, random, ms - CALM_MS, commit)
    if (last !== undefined)
      await commit(groups.find((faults) => last in faults)!, last, random.branch())
  } catch (error) {
    // Whoever waits for a database that does not come back is not waited for.
    void traffic.stop()
    throw error
  }
  const calmFrom = now()
  await delay(CALM_MS + refusedLonger(scene.operations.filter(isStep), calmFrom) / 1_000)
  await traffic.stop()
  const history = { ...(await readRecord(scene)), operations: scene.operations, calmFrom }
  return reportOn(engine, seed, history, counts)
}

/** Until the time is over, or something has failed in an attempt at a fault. */
async function disturb(
  groups: readonly Group[],
  random: Random,
  ms: number,
  commit: (faults: Group, name: string, own: Random) => Promise<void>,
): Promise<void> {
  let end = performance.now() + ms
  const ended = await Promise.allSettled(
    groups.map(async (faults) => {
      const own = random.branch()
      let order: string[] = []
      while (performance.now() < end) {
        await delay(own.between(50, 800))
        // Each of them once, before any comes again.
        if (order.length === 0) order = own.shuffle(Object.keys(faults))
        await commit(faults, order.pop()!, own).catch((error: unknown) => {
          end = 0
          throw error
        })
      }
    }),
  )
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}
