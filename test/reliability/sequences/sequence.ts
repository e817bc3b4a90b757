import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { randomFrom, seedOfRun } from '../../fixtures/random.ts'
import { ACTS, OPENING } from './acts.ts'
import {
  type Act,
  check,
  checkGranted,
  keepAsking,
  openWorld,
  type Place,
  type World,
} from './world.ts'

const STEPS = 60
/** A sequence that takes longer hangs. */
const SEQUENCE_MS = 600_000
/** Of all sequences together, because SEQUENCES may ask for any number. */
export const ALL_MS = 2_147_483_647
const DRAWN = Object.entries(ACTS).flatMap(([name, [weight]]) =>
  Array.from({ length: weight }, () => name),
)

/** Runs sequences with new seeds, or the one in SEED, for about this time. */
export async function runSequences(
  t: TestContext,
  open: () => Promise<[main: Place, other: Place]>,
  { forMs = 25_000, count = Number(process.env.SEQUENCES ?? 0) } = {},
): Promise<void> {
  const begun = performance.now()
  const first = seedOfRun()
  let done = 0
  const isOver = () =>
    process.env.SEED !== undefined
      ? done > 0
      : count > 0
        ? done >= count
        : performance.now() - begun > forMs
  for (; done === 0 || !isOver(); done += 1)
    await t.test(`sequence ${first + done}`, { timeout: SEQUENCE_MS }, async (inner) =>
      runSequence(inner, first + done, open),
    )
  t.diagnostic(`${done} sequences of ${STEPS} steps`)
}

async function runSequence(
  t: TestContext,
  seed: number,
  open: () => Promise<[main: Place, other: Place]>,
): Promise<void> {
  const random = randomFrom(seed)
  const [main, other] = await open()
  const world = await openWorld(t, random, main, other)
  const end = new AbortController()
  const client = keepAsking(world, end.signal)
  // The sequence reports its fault at the end.
  client.catch(() => {})
  try {
    const opening = OPENING.values()
    for (let step = 0; step < STEPS; ) {
      const name = opening.next().value ?? random.pick(DRAWN)
      world.log.push(name)
      if (!(await act(world, ACTS[name]![1]))) {
        world.log.pop()
        step += 0.2
        continue
      }
      step += 1
      await check(world)
    }
    await checkGranted(world)
    end.abort()
    await client
  } catch (error) {
    assert.fail(`SEED=${seed}, after: ${world.log.join(' · ')}\n${(error as Error).stack}`)
  } finally {
    end.abort()
  }
}

async function act(world: World, run: Act): Promise<boolean> {
  world.acts += 1
  world.isActing = true
  const isDone = await run(world)
  world.isActing = false
  return isDone
}
