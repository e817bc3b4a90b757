import { setTimeout as delay } from 'node:timers/promises'
import { RETURN_MAX } from './check/liveness.ts'
import { commitFault, type Fault } from './faults/fault.ts'
import type { Run } from './nemesis.ts'
import type { Battlefield } from './traffic/battlefield.ts'
import { randomFrom } from '../../fixtures/random.ts'
import { setScene } from './traffic/scene.ts'
import { watchForStalls } from './faults/stalls.ts'
import { startTraffic } from './traffic/traffic.ts'
import { warmUp } from './traffic/warm-up.ts'

/** Longest pause of a busy client, in milliseconds. */
const CLIENT_PAUSE_MS = 150
/**
 * Longer than the service takes for any answer. A client that waits longer is connected to a
 * stopped process.
 */
const LEAVES_AFTER_MS = 3_000
/**
 * Time before the fault in which clients use every key once, and after it in which they use every
 * key again.
 */
const CALM_MS = RETURN_MAX / 1_000 + 500

/** Runs traffic beside a single lasting fault. */
export async function runBeside(
  { operator, port, readRecord }: Battlefield,
  name: string,
  fault: Fault,
  seed: number,
): Promise<Run> {
  const random = randomFrom(seed)
  await warmUp({ port })
  const scene = await setScene(operator)
  const stalls = watchForStalls(scene)
  const options = { port, random, pauseMs: CLIENT_PAUSE_MS, leavesAfterMs: LEAVES_AFTER_MS }
  const traffic = await startTraffic(scene, options)
  await delay(CALM_MS)
  let happened: boolean
  try {
    const staying = { ...fault, effect: { ...fault.effect, stays: true } }
    happened = await commitFault(name, staying, random.branch(), scene)
  } catch (error) {
    stalls.stop()
    await traffic.abandon()
    throw error
  }
  const calmFrom = await stalls.calm(() => CALM_MS)
  await traffic.stop()
  stalls.stop()
  const { operations, incidents } = scene
  return {
    history: { ...(await readRecord(scene)), operations, incidents, calmFrom },
    faults: new Map([[name, happened ? 1 : 0]]),
  }
}
