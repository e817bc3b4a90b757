import type { Waiting } from './call.ts'
import type { ExpiredCalls } from './expired-calls.ts'

/** The calls that no engine has taken yet. */
export interface Backlog {
  add(call: Waiting): void
  /** Returns the last batch, of which the engine decided nothing. Its calls keep their places. */
  putBack(batch: readonly Waiting[]): void
  /** Adds a busy call whose retry is due, or a probe. Both go ahead of new calls. */
  addAhead(call: Waiting): void
  /** Sets the expired calls aside. */
  expire(): void
  /** The calls of the next batch. */
  next(): Waiting[]
  /** True if new calls alone fill a batch. */
  isFull(): boolean
  count(): number
}

export function createBacklog(batchMax: number, expired: ExpiredCalls): Backlog {
  /** In order of arrival, so that the oldest are in front. */
  let waiting: Waiting[] = []
  let ahead: Waiting[] = []
  /** How many calls of the last batch came from `ahead`. */
  let aheadTaken = 0
  /** However many keys are busy, half of a batch is for new calls. */
  const aheadMin = Math.ceil(batchMax / 2)

  return {
    add(call) {
      waiting.push(call)
    },

    putBack(batch) {
      ahead = batch.slice(0, aheadTaken).concat(ahead)
      waiting = batch.slice(aheadTaken).concat(waiting)
    },

    addAhead(call) {
      ahead.push(call)
    },

    expire() {
      expired.takeFrom(waiting)
      if (ahead.length > 0) ahead = ahead.flatMap((call) => expired.withoutExpired(call) ?? [])
    },

    next() {
      const due = ahead.splice(0, Math.max(aheadMin, batchMax - waiting.length))
      aheadTaken = due.length
      if (aheadTaken === 0) return waiting.splice(0, batchMax)
      return due.concat(waiting.splice(0, batchMax - due.length))
    },

    isFull: () => waiting.length >= batchMax,
    count: () => waiting.length + ahead.length,
  }
}
