import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../../fixtures/random.ts'
import { beAtTheBoundary, beBusy, bePolite, type Crowd, type TrafficOptions } from './clients.ts'
import type { Scene, Subject } from './scene.ts'

/** Clients that ask at random instants, with keys that they share. */
const BUSY_CLIENTS = 12
const SHARED_KEYS_PER_OWNER = 2
/** Revoked keys that clients still ask with. */
const REVOKED_KEPT = 4

export interface Traffic {
  /** Resolves when each client has its last answer. */
  stop(): Promise<void>
  /** Stops after a failure of the run, without waiting for a database that may not come back. */
  abandon(): Promise<void>
}

/** Runs the clients until they are stopped. */
export async function startTraffic(scene: Scene, options: TrafficOptions): Promise<Traffic> {
  const { random } = options
  const over = new AbortController()
  const crowd: Crowd = { scene, options, over, connections: new Set(), shared: [], revoked: [] }
  for (const owner of scene.owners)
    for (let number = 0; number < SHARED_KEYS_PER_OWNER; number += 1)
      crowd.shared.push(await scene.issue(owner))
  const [ada, bob, eve] = scene.owners as [Owner, Owner, Owner]
  const alone = await Promise.all([ada, bob, eve, ada].map((owner) => scene.issue(owner)))
  const [first, second, third, fourth] = alone as [Subject, Subject, Subject, Subject]
  const clients = [
    ...Array.from({ length: BUSY_CLIENTS }, () => beBusy(crowd, random.branch())),
    bePolite(crowd, first, random.branch()),
    bePolite(crowd, second, random.branch()),
    beAtTheBoundary(crowd, third, random.branch()),
    beAtTheBoundary(crowd, fourth, random.branch()),
    revokeAndIssue(crowd, random.branch()),
    changeLists(crowd, random.branch()),
  ]
  const closeAll = () => {
    for (const connection of crowd.connections) connection.close()
  }
  return {
    async stop() {
      over.abort()
      await Promise.all(clients)
      closeAll()
    },
    async abandon() {
      over.abort()
      scene.abandon()
      await Promise.allSettled(clients)
      closeAll()
    },
  }
}

async function revokeAndIssue({ scene, over, shared, revoked }: Crowd, own: Random): Promise<void> {
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

async function changeLists({ scene, over }: Crowd, own: Random): Promise<void> {
  while (!over.signal.aborted) {
    await delay(own.between(100, 500))
    await scene.change(own.pick(scene.owners))
  }
}

type Owner = Scene['owners'][number]
