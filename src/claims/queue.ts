import { performance } from 'node:perf_hooks'
import type { Claim, ClaimStore, HeldListings } from '../model/claim.ts'
import { createBacklog } from './backlog.ts'
import { closedFault, createBatches } from './batches.ts'
import { createBusyKeys } from './busy-keys.ts'
import type { Decider } from './decide.ts'
import { createExpiredCallers, type Patience } from './expired-callers.ts'
import { createClaimMeter } from './meter.ts'
import type { ClaimCounts } from '../model/health/health.ts'

/** No key has this hash. */
const PROBE_HASH = new Uint8Array(32)
const NO_LISTINGS: HeldListings = { get: () => null }

export interface QueueOptions extends Patience {
  /** Keys in one batch. */
  batchMax: number
}

export interface ClaimQueue extends ClaimStore {
  /**
   * Has the next batch decide a claim with an unknown key. Under overload it does not wait behind
   * other claims. Rejects with the fault.
   */
  probe(): Promise<void>
  counts: ClaimCounts
  /** Decides what waits without waiting for any lock, and rejects all later calls. */
  close(): Promise<void>
}

/**
 * Batches the keys of one turn of the event loop, or those that come while every decider is at
 * work, in order of arrival. A batch has each key once, and each call its own deadline. `now` is
 * in milliseconds.
 */
export function createClaimQueue(
  deciders: readonly Decider[],
  { batchMax, ...patience }: QueueOptions,
  now: () => number = () => performance.now(),
): ClaimQueue {
  const meter = createClaimMeter()
  const expired = createExpiredCallers(patience, now, meter)
  const backlog = createBacklog(batchMax, expired)
  const busy = createBusyKeys(backlog, expired, now, () => batches.schedule())
  const batches = createBatches(deciders, { backlog, busy, expired }, meter, now)
  let isClosed = false

  return {
    counts: meter,

    claim(keyHash, listings, since = now()) {
      if (isClosed) return Promise.reject(closedFault())
      return new Promise((resolve, reject) => {
        backlog.add({ keyHash, listings, since, isProbe: false, resolve, reject })
        batches.schedule()
      })
    },

    async probe() {
      if (isClosed) throw closedFault()
      await new Promise<Claim>((resolve, reject) => {
        const caller = { since: now(), isProbe: true, resolve, reject }
        const probe = { keyHash: PROBE_HASH, listings: NO_LISTINGS, busy: null }
        backlog.addAhead({ ...probe, callers: [caller] })
        batches.schedule()
      })
    },

    async close() {
      isClosed = true
      busy.close()
      await batches.close()
      for (const decider of deciders) decider.close()
    },
  }
}
