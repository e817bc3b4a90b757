import { type Arrival, hashText, type Waiting } from './call.ts'
import { createDistinctKeys } from './distinct-keys.ts'
import type { ExpiredCallers } from './expired-callers.ts'

/** What no engine has at the moment: calls in line, and busy keys between two tries. */
export interface Backlog {
  /** Adds a call, to its key if that is parked. */
  add(call: Arrival): void
  /** Returns the last batch, of which the engine decided nothing. Its calls keep their places. */
  putBack(): void
  /** Keeps a busy key until its retry. False if it is kept already: its callers wait there now. */
  park(key: Waiting): boolean
  /** Puts a parked key whose retry is due, or a probe, ahead of the calls in line. */
  addAhead(key: Waiting): void
  /** Sets the expired callers aside. */
  expire(): void
  /** The keys of the next batch, each once, with the calls that were in line for them. */
  next(): Waiting[]
  /** True if the line alone fills a batch. */
  isFull(): boolean
  count(): number
}

export function createBacklog(batchMax: number, expired: ExpiredCallers): Backlog {
  /** In order of arrival, so that the oldest are in front. */
  let line: Arrival[] = []
  let ahead: Waiting[] = []
  const parked = new Map<string, Waiting>()
  const distinct = createDistinctKeys(batchMax)
  /** What the last batch took. */
  let taken: { line: Arrival[]; ahead: Waiting[] } = { line: [], ahead: [] }
  /** However many keys are busy, half of a batch is for the line. */
  const aheadMin = Math.ceil(batchMax / 2)

  return {
    add(call) {
      const key = parked.size === 0 ? undefined : parked.get(hashText(call.keyHash))
      if (key === undefined) line.push(call)
      else key.callers.push(call)
    },

    putBack() {
      ahead = taken.ahead.concat(ahead)
      line = taken.line.concat(line)
    },

    park(key) {
      const name = hashText(key.keyHash)
      const other = parked.get(name)
      if (other !== undefined) other.callers.push(...key.callers)
      else parked.set(name, key)
      return other === undefined
    },

    addAhead(key) {
      parked.delete(hashText(key.keyHash))
      ahead.push(key)
    },

    expire() {
      const kept = line.findIndex(({ since }) => !expired.isDue(since))
      const count = kept === -1 ? line.length : kept
      for (const call of line.splice(0, count)) expired.add([call], null)
      if (ahead.length > 0) ahead = ahead.filter((key) => expired.takeFrom(key))
    },

    next() {
      const due = ahead.splice(0, Math.max(aheadMin, batchMax - line.length))
      const { batch, count } = distinct.of(due, line)
      taken = { line: line.splice(0, count), ahead: due }
      return batch
    },

    isFull: () => line.length >= batchMax,
    count: () => line.length + ahead.length,
  }
}
