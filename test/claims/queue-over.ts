import assert from 'node:assert/strict'
import type { Call, Outcome } from '../../src/claims/call.ts'
import type { Decider } from '../../src/claims/decide.ts'
import { type ClaimQueue, createClaimQueue, type QueueOptions } from '../../src/claims/queue.ts'
import { AuthenticationFault, ListFault } from '../../src/model/faults.ts'
import type { Claim } from '../../src/model/claim.ts'
import { POSTGRES_QUEUE } from '../../src/postgres/claims/claim-connection.ts'
import { SQLITE_QUEUE } from '../../src/sqlite/claims/claims.ts'
import { NO_LISTINGS } from '../fixtures/listings.ts'

/** The two kinds of engine, with the limits of the real ones. */
export interface Kind {
  /** Whether a batch is decided before `claimBatch` returns. */
  isSynchronous: boolean
  limits: QueueOptions
}

export const SQLITE: Kind = { isSynchronous: true, limits: SQLITE_QUEUE }
export const POSTGRES: Kind = { isSynchronous: false, limits: POSTGRES_QUEUE }
export const KINDS = Object.entries({ SQLite: SQLITE, PostgreSQL: POSTGRES })

interface Options {
  deciders?: number
  batchMax?: number
  /** Decides each batch only when the test releases it. */
  holds?: boolean
  /** True if the whole database is locked now. */
  isLocked?: (calls: readonly Call[]) => boolean
  fails?: (calls: readonly Call[]) => boolean
  /** The outcome of a claim by the first byte of its hash, if it is not the usual one. */
  decide?: (byte: number) => Outcome | undefined
}

export interface OpenQueue {
  queue: ClaimQueue
  /** The first bytes of the hashes, per batch. */
  batches: string[]
  /** Releases the held batches, one by one. */
  held: (() => void)[]
  /** The deciders that were closed. */
  closed: number[]
  elapse(milliseconds: number): void
}

/** A queue over engines that the test controls, with a clock that the test moves. */
export function queueOver(kind: Kind, options: Options = {}): OpenQueue {
  const { deciders = 1, holds = false, isLocked = () => false, fails = () => false } = options
  const decide = options.decide ?? (() => undefined)
  const batches: string[] = []
  const held: (() => void)[] = []
  const closed: number[] = []
  let now = 5_000

  const note = (calls: readonly Call[]) =>
    batches.push(calls.map(({ keyHash }) => keyHash[0]).join(' '))
  const outcomesOf = (calls: readonly Call[]) =>
    calls.map((call) => decide(call.keyHash[0]!) ?? usualOutcome(call))
  const claimNow = (calls: readonly Call[]) => {
    note(calls)
    return isLocked(calls) ? null : outcomesOf(calls)
  }

  function decider(index: number): Decider {
    let isWorking = false
    const claimLater = async (calls: readonly Call[]) => {
      assert.ok(!isWorking, 'a decider has one batch at a time')
      isWorking = true
      note(calls)
      if (holds) await new Promise<void>((resolve) => held.push(resolve))
      isWorking = false
      if (fails(calls)) throw new AuthenticationFault('lost')
      return outcomesOf(calls)
    }
    return {
      claimBatch: kind.isSynchronous ? claimNow : claimLater,
      close: () => void closed.push(index),
    }
  }

  const { batchMax = kind.limits.batchMax } = options
  return {
    queue: createClaimQueue(
      Array.from({ length: deciders }, (_, index) => decider(index)),
      { ...kind.limits, batchMax },
      () => now,
    ),
    batches,
    held,
    closed,
    elapse: (milliseconds) => {
      now += milliseconds
    },
  }
}

function usualOutcome({ keyHash: [byte] }: Call): Outcome {
  return byte === 2 ? new ListFault('x') : { outcome: 'revoked', apiKeyId: `id ${byte}` }
}

/** A call with the key of this first byte. Keys with different numbers are different ones. */
export function call(queue: ClaimQueue, byte: number, number = 0): Promise<Claim> {
  return queue.claim(Uint8Array.of(byte, number >> 8, number & 0xff), NO_LISTINGS)
}

export function sizesOf(batches: readonly string[]): number[] {
  return batches.map((batch) => batch.split(' ').length)
}

export function summary(settled: PromiseSettledResult<Claim>): string {
  if (settled.status === 'rejected') return settled.reason.name
  return 'apiKeyId' in settled.value ? settled.value.apiKeyId : settled.value.outcome
}
