import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, openConnection } from './connection.ts'
import type { Random } from './random.ts'
import { now, type Operation } from './record.ts'
import type { Scene, Subject } from './scene.ts'

/** Clients that ask at random with keys that others ask with as well. */
const BUSY_CLIENTS = 12
const SHARED_KEYS_PER_OWNER = 2
/** Keys that were revoked and are still asked with. */
const REVOKED_KEPT = 4

export interface TrafficOptions {
  /** Where a service listens at the moment; null while none does. */
  port: (random: Random) => number | null
  random: Random
  /** The longest pause of a busy client between two requests, in milliseconds. */
  pauseMs: number
}

/** Asks until it is told to stop. */
export async function startTraffic(
  scene: Scene,
  { port, random, pauseMs }: TrafficOptions,
): Promise<{ stop(): Promise<void> }> {
  const over = new AbortController()
  const shared: Subject[] = []
  const revoked: Subject[] = []
  for (const owner of scene.owners)
    for (let number = 0; number < SHARED_KEYS_PER_OWNER; number += 1)
      shared.push(await scene.issue(owner))
  const [ada, bob, eve] = scene.owners as [Owner, Owner, Owner]

  /** Asks on a connection that it keeps, and changes now and then; null where there was nobody to ask. */
  function asker(own: Random): (asked: (Subject | null)[]) => Promise<Operation[] | null> {
    let connection: Connection | null = null
    return async (asked) => {
      if (connection !== null && (own.chance(0.05) || !connection.isOpen())) {
        connection.close()
        connection = null
      }
      const at = port(own)
      if (connection === null && at !== null)
        connection = await openConnection(at, scene.operations)
      if (connection !== null) return connection.ask(asked)
      await delay(10)
      return null
    }
  }

  async function beBusy(own: Random): Promise<void> {
    const ask = asker(own)
    while (!over.signal.aborted) {
      const keys = revoked.length > 0 && own.chance(0.15) ? revoked : shared
      const subject = own.pick(keys)
      await ask(own.chance(0.1) ? [null, subject, null] : [subject])
      await delay(own.between(0, pauseMs))
    }
  }

  /** Comes back 1.01 s after each answer, as it was told. */
  async function bePolite(subject: Subject, own: Random): Promise<void> {
    const ask = asker(own)
    while (!over.signal.aborted) if ((await ask([subject])) !== null) await delay(1_010)
  }

  /** Alone with its key, comes back around the very moment at which it may. */
  async function beAtTheBoundary(subject: Subject, own: Random): Promise<void> {
    const ask = asker(own)
    while (!over.signal.aborted) {
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

  async function revokeAndIssue(own: Random): Promise<void> {
    while (!over.signal.aborted) {
      await delay(own.between(300, 1_500))
      const place = Math.floor(own.between(0, shared.length))
      const gone = shared[place]!
      await scene.revoke(gone)
      revoked.unshift(gone)
      revoked.splice(REVOKED_KEPT)
      shared[place] = await scene.issue(gone.owner)
    }
  }

  async function changeLists(own: Random): Promise<void> {
    while (!over.signal.aborted) {
      await delay(own.between(100, 500))
      await scene.change(own.pick(scene.owners))
    }
  }

  const alone = await Promise.all([ada, bob, eve, ada].map((owner) => scene.issue(owner)))
  const [first, second, third, fourth] = alone as [Subject, Subject, Subject, Subject]
  const clients = [
    ...Array.from({ length: BUSY_CLIENTS }, () => beBusy(random.branch())),
    bePolite(first, random.branch()),
    bePolite(second, random.branch()),
    beAtTheBoundary(third, random.branch()),
    beAtTheBoundary(fourth, random.branch()),
    revokeAndIssue(random.branch()),
    changeLists(random.branch()),
  ]
  return {
    async stop() {
      over.abort()
      await Promise.all(clients)
    },
  }
}

type Owner = Scene['owners'][number]
