import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../fixtures/random.ts'
import { now } from '../history/record/record.ts'

/** The number of an owner's cluster, from 1; null while the owner moves. */
export type Place = number | null

/** A router's copy of the directory. */
export interface DirectoryCopy {
  /**
   * The owner of a key and the place of that owner; undefined for a key that the directory does
   * not have. Null if the lease has expired: a router that can't reach the directory must not
   * answer from its copy.
   */
  find(keyHash: Uint8Array): { owner: string; place: Place } | undefined | null
  /** Counts a request of this owner as under way until `body` has ended. */
  whileUnderWay<T>(owner: string, body: () => Promise<T>): Promise<T>
  /** Changes and renewals of the lease no longer arrive, or arrive again. */
  cutOff(isCutOff: boolean): void
}

/**
 * Says where each key is valid. A key carries no owner, so the directory maps the hash of a key to
 * its owner, and the owner to a cluster. One change moves all keys of an owner.
 */
export interface Directory {
  open(): DirectoryCopy
  /** Resolves when every router knows the key. */
  assign(keyHash: Uint8Array, owner: string): Promise<void>
  /**
   * Resolves when every router has confirmed the place or has lost its lease, and no request that
   * a router sent to the previous place is under way.
   */
  place(owner: string, place: Place): Promise<void>
  placeOf(owner: string): Place
  /** Where owners have been, on the clock of a record. */
  readonly stays: readonly Stay[]
  close(): void
}

export interface Stay {
  owner: string
  cluster: number
  from: number
  to: number
  /** In between, every router sends the owner's requests there. */
  settled: number
  leaving: number
}

/** The end of what has not ended. */
const NEVER = Number.MAX_SAFE_INTEGER

const SYNC_MS = 50
/** Messages to routers arrive this much later, at most. */
const LAG_MAX_MS = 100
const LEASE_MS = 500
const LOOK_MS = 5

interface Snapshot {
  version: number
  owners: ReadonlyMap<string, string>
  places: ReadonlyMap<string, Place>
}

interface Held {
  snapshot: Snapshot
  validUntil: number
  isCutOff: boolean
  /** The number of requests under way, by owner. */
  underWay: Map<string, number>
}

export function createDirectory(random: Random): Directory {
  let current: Snapshot = { version: 0, owners: new Map(), places: new Map() }
  const copies: Held[] = []
  const stays: Stay[] = []
  const timer = setInterval(() => {
    for (const copy of copies) void send(copy, current)
  }, SYNC_MS)

  async function send(copy: Held, snapshot: Snapshot): Promise<void> {
    const sentAt = performance.now()
    await delay(random.between(0, LAG_MAX_MS))
    if (copy.isCutOff || snapshot.version < copy.snapshot.version) return
    copy.snapshot = snapshot
    copy.validUntil = Math.max(copy.validUntil, sentAt + LEASE_MS)
  }

  async function publish(change: Partial<Snapshot>, owner: string): Promise<void> {
    const version = current.version + 1
    current = { ...current, ...change, version }
    const changedAt = performance.now()
    // A copy of an earlier version was sent before the change, so its lease ends by then.
    const hasLease = () => performance.now() <= changedAt + LEASE_MS
    const isBehind = ({ snapshot, underWay }: Held) =>
      (snapshot.version < version && hasLease()) || (underWay.get(owner) ?? 0) > 0
    while (copies.some(isBehind)) await delay(LOOK_MS)
  }

  return {
    open() {
      const copy = { snapshot: current, validUntil: 0, isCutOff: false, underWay: new Map() }
      copies.push(copy)
      return copyOf(copy)
    },

    assign: (keyHash, owner) =>
      publish({ owners: new Map(current.owners).set(nameOf(keyHash), owner) }, owner),

    async place(owner, place) {
      const from = now()
      const last = stays.findLast((stay) => stay.owner === owner)
      if (last?.leaving === NEVER) last.leaving = from
      await publish({ places: new Map(current.places).set(owner, place) }, owner)
      const settled = now()
      if (last?.to === NEVER) last.to = settled
      if (place !== null)
        stays.push({ owner, cluster: place, from, to: NEVER, settled, leaving: NEVER })
    },

    placeOf: (owner) => current.places.get(owner) ?? null,
    stays,
    close: () => clearInterval(timer),
  }
}

function copyOf(held: Held): DirectoryCopy {
  const count = (owner: string, more: number) =>
    held.underWay.set(owner, (held.underWay.get(owner) ?? 0) + more)
  return {
    find(keyHash) {
      if (performance.now() > held.validUntil) return null
      const owner = held.snapshot.owners.get(nameOf(keyHash))
      if (owner === undefined) return undefined
      return { owner, place: held.snapshot.places.get(owner) ?? null }
    },
    async whileUnderWay(owner, body) {
      count(owner, 1)
      try {
        return await body()
      } finally {
        count(owner, -1)
      }
    },
    cutOff(isCutOff) {
      held.isCutOff = isCutOff
    },
  }
}

function nameOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString('hex')
}
