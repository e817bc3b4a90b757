import { type Caller, type Call, hashText, type Waiting } from './call.ts'
import type { ExpiredCallers } from './expired-callers.ts'

/**
 * The keys that no engine has at the moment, each once: those in line, and busy ones between two
 * tries.
 */
export interface Backlog {
  /** Adds a caller, whose key comes into line unless it is here already. */
  add(call: Call, caller: Caller): void
  /** Returns the last batch, of which the engine decided nothing. Its keys keep their places. */
  putBack(batch: readonly Waiting[]): void
  /** Takes a busy key out of line. Callers that came meanwhile wait behind its own. */
  park(key: Waiting): void
  /** Puts a busy key whose retry is due, or a probe, ahead of the keys in line. */
  addAhead(key: Waiting): void
  /** Sets the expired callers aside. */
  expire(): void
  /** The keys of the next batch. */
  next(): Waiting[]
  /** True if the line alone fills a batch. */
  isFull(): boolean
  count(): number
}

export function createBacklog(batchMax: number, expired: ExpiredCallers): Backlog {
  const known = new Map<string, Waiting>()
  /** In order of arrival, so that the oldest are in front. */
  let line: Waiting[] = []
  let ahead: Waiting[] = []
  /** How many keys of the last batch came from `ahead`. */
  let aheadTaken = 0
  /** However many keys are busy, half of a batch is for the line. */
  const aheadMin = Math.ceil(batchMax / 2)

  /** Forgets a key all of whose callers have expired. */
  function hasCallers(key: Waiting): boolean {
    const isLeft = expired.takeFrom(key)
    if (!isLeft) known.delete(key.name)
    return isLeft
  }

  return {
    add({ keyHash, listings }, caller) {
      const name = hashText(keyHash)
      const key = known.get(name)
      if (key !== undefined) {
        key.callers.push(caller)
        return
      }
      const fresh = { name, keyHash, listings, callers: [caller], busy: null }
      known.set(name, fresh)
      line.push(fresh)
    },

    putBack(batch) {
      for (const key of batch) known.set(key.name, key)
      ahead = batch.slice(0, aheadTaken).concat(ahead)
      line = batch.slice(aheadTaken).concat(line)
    },

    park(key) {
      const later = known.get(key.name)
      if (later !== undefined) {
        key.callers.push(...later.callers)
        line.splice(line.indexOf(later), 1)
      }
      known.set(key.name, key)
    },

    addAhead(key) {
      ahead.push(key)
    },

    expire() {
      const kept = line.findIndex((key) => !expired.isDue(sinceOf(key)))
      const count = kept === -1 ? line.length : kept
      for (const key of line.splice(0, count)) if (hasCallers(key)) putInLine(line, key)
      if (ahead.length > 0) ahead = ahead.filter(hasCallers)
    },

    next() {
      const due = ahead.splice(0, Math.max(aheadMin, batchMax - line.length))
      aheadTaken = due.length
      const batch = due.concat(line.splice(0, batchMax - due.length))
      for (const { name } of batch) known.delete(name)
      return batch
    },

    isFull: () => line.length >= batchMax,
    count: () => line.length + ahead.length,
  }
}

const sinceOf = ({ callers }: Waiting): number => callers[0]!.since

/** The place of a key whose oldest callers are gone. */
function putInLine(line: Waiting[], key: Waiting): void {
  const behind = line.findIndex((other) => sinceOf(other) > sinceOf(key))
  line.splice(behind === -1 ? line.length : behind, 0, key)
}
