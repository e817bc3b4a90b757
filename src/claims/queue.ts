import { performance } from 'node:perf_hooks'
import type { Claim, ClaimStore, HeldListings } from '../model/claim.ts'
import { createBacklog } from './backlog.ts'
import { closedFault, createBatches } from './batches.ts'
import { createBusyCalls } from './busy-calls.ts'
import type { Call, Waiting } from './call.ts'
import type { Decider } from './decide.ts'
import { createExpiredCalls, type Patience } from './expired-calls.ts'
import { createClaimMeter } from './meter.ts'
import type { ClaimCounts } from '../model/health/health.ts'

/** No key has this hash. */
const PROBE_HASH = new Uint8Array(32)
const NO_LISTINGS: HeldListings = { get: () => null }

export interface QueueOptions extends Patience {
  /** Calls in one batch. */
  batchMax: number
}

export interface ClaimQueue extends ClaimStore {
  /**
   * Has the next batch decide a claim with an unknown key. Under overload it does not wait behind
   * other claims. Rejects with the fault.
   */
  probe(): Promise<void>
  counts: ClaimCounts
  /** Decides the waiting calls without waiting for any lock, and rejects all later ones. */
  close(): Promise<void>
}

/**
 * Batches the calls of one turn of the event loop, or those that arrive while every decider is at
 * work, in order of arrival. Each call has its own deadline. `now` is in milliseconds.
 */
export function createClaimQueue(
  deciders: readonly Decider[],
  { batchMax, ...patience }: QueueOptions,
  now: () => number = () => performance.now(),
): ClaimQueue {
  const meter = createClaimMeter()
  const expired = createExpiredCalls(patience, now, meter)
  const backlog = createBacklog(batchMax, expired)
  const busy = createBusyCalls(expired, now, addAhead)
  const batches = createBatches(deciders, { backlog, busy, expired }, meter, now)
  let isClosed = false

  function add(call: Waiting): void {
    if (busy.join(call)) return
    backlog.add(call)
    batches.schedule()
  }

  function addAhead(call: Waiting): void {
    backlog.addAhead(call)
    batches.schedule()
  }

  function ask(
    { keyHash, listings }: Call,
    send: (call: Waiting) => void,
    since = now(),
  ): Promise<Claim> {
    if (isClosed) return Promise.reject(closedFault())
    return new Promise((resolve, reject) => {
      send({ keyHash, listings, since, resolve, reject, busy: null })
    })
  }

  return {
    counts: meter,

    claim: (keyHash, listings, since) => ask({ keyHash, listings }, add, since),

    async probe() {
      await ask({ keyHash: PROBE_HASH, listings: NO_LISTINGS }, addAhead)
    },

    async close() {
      isClosed = true
      busy.close()
      await batches.close()
      for (const decider of deciders) decider.close()
    },
  }
}
