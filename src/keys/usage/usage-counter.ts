import { setTimeout as delay } from 'node:timers/promises'
import type { KnownClaim } from '../../model/claim.ts'
import { type Instant, presentInstant } from '../../model/instant.ts'
import {
  COUNTS_SLICE,
  DROPPED_FROM,
  ROLLED_UP_FROM,
  slotOf,
  type UsageCount,
  type UsageCountStore,
} from '../../model/usage-counts.ts'
import { createCounts } from './counts.ts'

/**
 * How often the counter writes. A crash loses what it has not written yet, which only the chart
 * shows.
 */
const WRITE_MS = 60_000
/** Pause between two slices, so that requests go first. */
const PAUSE_MS = 10

export interface UsageCounter {
  /** Counts a claim that was answered with the status of its outcome. */
  count(claim: KnownClaim): void
  /** The counts of these keys that are not written yet. */
  unwritten(apiKeyIds: readonly string[]): UsageCount[]
  /** Writes all counts, slice by slice. */
  write(): Promise<void>
  close(): Promise<void>
}

/**
 * Counts in memory how the requests with each key were answered, and writes the counts once a
 * minute. A request costs one lookup in a map.
 */
export function createUsageCounter(
  store: Omit<UsageCountStore, 'listUsageCounts'>,
  onFault: (fault: unknown) => void,
  now: () => Instant = presentInstant,
): UsageCounter {
  const counts = createCounts()
  const slotNow = () => slotOf(now())
  let writing: Promise<void> = Promise.resolve()
  let isClosing = false
  const timer = setInterval(() => void write(), WRITE_MS).unref()

  function write(): Promise<void> {
    writing = writing.then(writeSlices)
    return writing
  }

  async function writeSlices(): Promise<void> {
    const ordered = counts.take()
    try {
      for (let slice = takeSlice(ordered); slice.length > 0; slice = takeSlice(ordered)) {
        // A failed write may have been committed, so the counter does not repeat it.
        await store.addUsageCounts(slice)
        await pause()
      }
      while (await store.rollUpUsageCounts(slotNow() - ROLLED_UP_FROM)) await pause()
      while (await store.dropUsageCounts(slotNow() - DROPPED_FROM)) await pause()
    } catch (fault) {
      onFault(fault)
      // The next write includes the slices that were not sent.
      counts.addAll(ordered)
    }
  }

  async function pause(): Promise<void> {
    if (!isClosing) await delay(PAUSE_MS)
  }

  return {
    count: (claim) => counts.add(claim, slotNow),
    unwritten: (apiKeyIds) => apiKeyIds.flatMap((apiKeyId) => counts.get(apiKeyId) ?? []),
    write,
    async close() {
      isClosing = true
      clearInterval(timer)
      await write()
    },
  }
}

function takeSlice(counts: Generator<UsageCount, void>): UsageCount[] {
  const slice: UsageCount[] = []
  while (slice.length < COUNTS_SLICE) {
    const { value, done } = counts.next()
    if (done === true) break
    slice.push(value)
  }
  return slice
}
