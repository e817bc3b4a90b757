import type { Battlefield } from './traffic/battlefield.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { RETURN_MAX } from './check/liveness.ts'
import { isStep, refusedLonger } from './check/clock-steps.ts'
import { commitFault } from './faults/fault.ts'
import { type Random, randomFrom } from '../../fixtures/random.ts'
import type { History } from './record/record.ts'
import { setScene } from './traffic/scene.ts'
import { watchForStalls } from './faults/stalls.ts'
import { startTraffic } from './traffic/traffic.ts'
import { warmUp } from './traffic/warm-up.ts'

export interface NemesisOptions {
  seed: number
  /**
   * Length of the run in milliseconds. The run takes longer if a fault has not happened by then.
   */
  ms: number
  /** Longest pause between two faults of a group, in milliseconds. */
  pauseMs: number
  /** Name of a fault that comes last and alone, so that the run shows the recovery from it. */
  last?: string
}

/** Longest pause of a busy client, in milliseconds. */
const CLIENT_PAUSE_MS = 70
/** Extra time for faults that have not happened yet, in milliseconds. */
const OVERTIME_MS = 60_000
/**
 * Time after the last fault, in milliseconds. The service must serve every client within
 * `RETURN_MAX`, which is shorter.
 */
const CALM_MS = RETURN_MAX / 1_000 + 500

const CALM_BEFORE_MS = 1_500

type Group = Battlefield['groups'][number]

export interface Run {
  history: History
  /** How often each fault happened. */
  faults: ReadonlyMap<string, number>
}

/** Runs traffic on the battlefield, with faults drawn from the seed. */
export async function runNemesis(
  { operator, port, groups, readRecord }: Battlefield,
  { seed, ms, pauseMs, last }: NemesisOptions,
): Promise<Run> {
  const random = randomFrom(seed)
  await warmUp({ port })
  const scene = await setScene(operator)
  const stalls = watchForStalls(scene)
  const traffic = await startTraffic(scene, { port, random, pauseMs: CLIENT_PAUSE_MS })
  const faults = new Map(
    groups.flatMap((group) => Object.keys(group)).map((name): [string, number] => [name, 0]),
  )
  const commit = async (group: Group, name: string, own: Random) => {
    if (await commitFault(name, group[name]!, own, scene)) faults.set(name, faults.get(name)! + 1)
  }
  const isMissed = (group: Group) => Object.keys(group).some((name) => faults.get(name) === 0)
  try {
    // A failure before the first fault has no excuse.
    await delay(CALM_BEFORE_MS)
    await disturb(groups, random, { ms: ms - CALM_BEFORE_MS - CALM_MS, pauseMs, isMissed, commit })
    if (last !== undefined)
      await commit(groups.find((faults) => last in faults)!, last, random.branch())
  } catch (error) {
    stalls.stop()
    await traffic.abandon()
    throw error
  }
  const calmFrom = await stalls.calm(
    (from) => CALM_MS + refusedLonger(scene.operations.filter(isStep), from) / 1_000,
  )
  await traffic.stop()
  stalls.stop()
  const { operations, incidents } = scene
  return { history: { ...(await readRecord(scene)), operations, incidents, calmFrom }, faults }
}

interface Disturbing {
  ms: number
  pauseMs: number
  /** True if a fault of the group has not happened yet. */
  isMissed(group: Group): boolean
  commit(group: Group, name: string, own: Random): Promise<void>
}

/**
 * Commits faults until the time is over and each fault has happened, or until an attempt at one
 * fails.
 */
async function disturb(
  groups: readonly Group[],
  random: Random,
  { ms, pauseMs, isMissed, commit }: Disturbing,
): Promise<void> {
  let end = performance.now() + ms
  const isOver = (group: Group) => {
    const left = end - performance.now()
    return left <= 0 && (left <= -OVERTIME_MS || !isMissed(group))
  }
  const ended = await Promise.allSettled(
    groups.map(async (faults) => {
      const own = random.branch()
      let order: string[] = []
      while (!isOver(faults)) {
        await delay(own.between(50, pauseMs))
        // Each fault happens once before any fault repeats.
        if (order.length === 0) order = own.shuffle(Object.keys(faults))
        await commit(faults, order.pop()!, own).catch((error: unknown) => {
          end = Number.NEGATIVE_INFINITY
          throw error
        })
      }
    }),
  )
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}
