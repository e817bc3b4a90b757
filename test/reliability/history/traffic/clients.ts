import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../../fixtures/random.ts'
import { now, type Operation } from '../record/record.ts'
import { type Connection, type Listening, openConnection } from './connection.ts'
import type { Scene, Subject } from './scene.ts'

export interface TrafficOptions {
  /** Returns where a service listens at the moment; null if none does. */
  port: (random: Random) => Listening | null
  random: Random
  /** Longest pause of a busy client between two requests, in milliseconds. */
  pauseMs: number
  /**
   * Time without an answer after which a client leaves for another process, in milliseconds. It
   * also leaves after a failure. Without this option it stays.
   */
  leavesAfterMs?: number
}

/** What the clients of a run share. */
export interface Crowd {
  scene: Scene
  options: TrafficOptions
  over: AbortController
  /** Every connection so far. */
  connections: Set<Connection>
  shared: Subject[]
  /** Revoked keys that clients still ask with. */
  revoked: Subject[]
}

/** Asks at random instants with shared keys, until the run is over. */
export async function beBusy(crowd: Crowd, own: Random): Promise<void> {
  const { options, over, revoked, shared } = crowd
  const ask = asker(crowd, own)
  while (!over.signal.aborted) {
    const keys = revoked.length > 0 && own.chance(0.15) ? revoked : shared
    const subject = own.pick(keys)
    await ask(own.chance(0.1) ? [null, subject, null] : [subject])
    await delay(own.between(0, options.pauseMs))
  }
}

/** Comes back 1.01 s after each answer, as told. */
export async function bePolite(crowd: Crowd, subject: Subject, own: Random): Promise<void> {
  const ask = asker(crowd, own)
  while (!crowd.over.signal.aborted) if ((await ask([subject])) !== null) await delay(1_010)
}

/** Has a key of its own and comes back close to the instant at which it may. */
export async function beAtTheBoundary(crowd: Crowd, subject: Subject, own: Random): Promise<void> {
  const ask = asker(crowd, own)
  while (!crowd.over.signal.aborted) {
    const answers = await ask([subject])
    const answer = answers?.[0]
    if (answer?.status !== 200) {
      await delay(own.between(1, 8))
      continue
    }
    const at = own.between(answer.t0, answer.t1) + own.between(985_000, 1_015_000)
    await delay(Math.max(0, (at - now()) / 1_000))
  }
}

/**
 * Returns a client that keeps its connection and replaces it now and then. It yields null if no
 * process listened.
 */
function asker(
  { scene, options, connections }: Crowd,
  own: Random,
): (asked: (Subject | null)[]) => Promise<Operation[] | null> {
  const { port, leavesAfterMs } = options
  let connection: Connection | null = null
  return async (asked) => {
    if (connection !== null && (own.chance(0.05) || !connection.isOpen())) {
      connection.close()
      connection = null
    }
    const at = port(own)
    if (connection === null && at !== null)
      connection = await openConnection(at, scene.operations, leavesAfterMs)
    if (connection === null) {
      await delay(10)
      return null
    }
    connections.add(connection)
    const answers = await connection.ask(asked)
    if (leavesAfterMs !== undefined && answers.some(hasFailed)) {
      connection.close()
      connection = null
    }
    return answers
  }
}

function hasFailed({ status }: Operation): boolean {
  return status === 0 || status >= 500
}
