import type { Random } from '../../../fixtures/random.ts'
import { type Failure, now } from '../record/record.ts'
import type { Scene } from '../traffic/scene.ts'

/** What a fault touched. An absent field means everything. */
export interface Touched {
  key?: string
  owner?: string
  /** Counts from 1. */
  process?: number
  /**
   * True if something disturbed the fault, so that it may have ended early. It explains failures
   * but does not count.
   */
  isCutShort?: boolean
}

/** What a fault does to requests. */
export interface Effect {
  failures: readonly Failure[]
  /** Time after its end in which requests may still fail, in milliseconds. Default: none. */
  aftermathMs?: number
  /** True if the fault can leave a transaction behind that no request waits for. */
  orphans?: boolean
  /** True for a lasting fault, which must not disturb anything else. */
  stays?: boolean
}

/**
 * Commits a fault and resolves when it is over and everything runs. Null means that nothing
 * happened.
 */
export type Commit = (random: Random, scene: Scene) => Promise<Touched | null>

export interface Fault {
  effect: Effect
  commit: Commit
}

/** Gives the same effect to several faults. */
export function withEffect<Name extends string>(
  effect: Effect,
  faults: Readonly<Record<Name, Commit>>,
): Record<Name, Fault> {
  const pairs = Object.entries<Commit>(faults).map(([name, commit]) => [name, { effect, commit }])
  return Object.fromEntries(pairs) as Record<Name, Fault>
}

/** Commits a fault and records it as an incident. True if it happened completely. */
export async function commitFault(
  name: string,
  { effect, commit }: Fault,
  random: Random,
  scene: Scene,
): Promise<boolean> {
  const t0 = now()
  const touched = await commit(random, scene)
  if (touched === null) return false
  scene.incidents.push({
    fault: name,
    t0,
    t1: now(),
    key: touched.key ?? '',
    owner: touched.owner ?? '',
    process: touched.process ?? 0,
    failures: effect.failures,
    aftermath: (effect.aftermathMs ?? 0) * 1_000,
    orphans: effect.orphans ?? false,
    stays: effect.stays ?? false,
  })
  return touched.isCutShort !== true
}

/** Draws how long a fault lasts, in milliseconds, from between the two bounds. */
export type Stay = (random: Random, from: number, to: number) => number

export const SHORT_STAY: Stay = (random, from, to) => random.between(from, to)

/** Longer than every time limit of the service. */
const LONG_MS = 5_000
/** A third of the faults last longer than the service waits for anything. */
export const LONG_STAY: Stay = (random, from, to) =>
  random.chance(1 / 3) ? LONG_MS : random.between(from, to)
