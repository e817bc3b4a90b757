import { setTimeout as delay } from 'node:timers/promises'
import type { HttpEvent } from '../http/message.ts'
import { type Instant, presentInstant } from '../listing/instant.ts'
import {
  COUNTS_SLICE,
  SLOTS_KEPT,
  slotOf,
  type UseCount,
  type UseCountStore,
} from '../listing/use-counts.ts'

/** How often counts are written. What is not written yet is lost with the process, and is no more than a picture. */
const WRITE_MS = 60_000
/** Between two slices: requests go first. */
const PAUSE_MS = 10
/** Keys counted between two writings; requests of others are not in the picture. */
const COUNTED_MAX = 200_000

export interface UseCounter {
  observe(event: HttpEvent): void
  /** What was counted for these keys and is not written yet. */
  unwritten(apiKeyIds: readonly string[]): UseCount[]
  /** Writes what was counted, slice by slice. */
  write(): Promise<void>
  close(): Promise<void>
}

/**
 * Counts how the requests with each key were answered, in memory, and writes that now and then: what it costs a
 * request is one look into a map.
 */
export function createUseCounter(
  store: Pick<UseCountStore, 'addUseCounts' | 'dropUseCounts'>,
  onFault: (fault: unknown) => void,
  now: () => Instant = presentInstant,
): UseCounter {
  let counts = new Map<string, UseCount>()
  let writing: Promise<void> = Promise.resolve()
  let isClosing = false
  const timer = setInterval(() => void write(), WRITE_MS).unref()

  function observe(event: HttpEvent): void {
    if (event.kind !== 'answered' || event.apiKeyId === null) return
    const count = counts.get(event.apiKeyId) ?? add(event.apiKeyId)
    if (event.status === 200) count.answered += 1
    else if (event.status === 429) count.limited += 1
    else if (event.status === 401) count.revoked += 1
  }

  function add(apiKeyId: string): UseCount {
    const count = {
      api_key_id: apiKeyId,
      slot: slotOf(now()),
      answered: 0,
      limited: 0,
      revoked: 0,
    }
    if (counts.size < COUNTED_MAX) counts.set(apiKeyId, count)
    return count
  }

  function write(): Promise<void> {
    writing = writing.then(writeSlices)
    return writing
  }

  async function writeSlices(): Promise<void> {
    const ordered = inOrderOfKeys(counts.values())
    counts = new Map()
    try {
      for (let slice = takeSlice(ordered); slice.length > 0; slice = takeSlice(ordered)) {
        // A slice that fails may have been written all the same: it is not written again.
        await store.addUseCounts(slice)
        await pause()
      }
      while (await store.dropUseCounts(slotOf(now()) - SLOTS_KEPT)) await pause()
    } catch (fault) {
      onFault(fault)
      keep(ordered)
    }
  }

  async function pause(): Promise<void> {
    if (!isClosing) await delay(PAUSE_MS)
  }

  /** What was not tried to be written is there for the next time. */
  function keep(unwritten: Iterable<UseCount>): void {
    for (const count of unwritten) {
      const since = counts.get(count.api_key_id)
      if (since === undefined) counts.set(count.api_key_id, count)
      else {
        since.answered += count.answered
        since.limited += count.limited
        since.revoked += count.revoked
      }
    }
  }

  return {
    observe,
    unwritten: (apiKeyIds) =>
      apiKeyIds.flatMap((apiKeyId) => {
        const count = counts.get(apiKeyId)
        return count === undefined ? [] : [count]
      }),
    write,
    async close() {
      isClosing = true
      clearInterval(timer)
      await write()
    },
  }
}

/** Characters of an id that groups are formed by: sorting all of a large number at once would stop the event loop. */
const GROUP_BY = 2

function* inOrderOfKeys(counts: Iterable<UseCount>): Generator<UseCount, void> {
  const groups = Map.groupBy(counts, ({ api_key_id }) => api_key_id.slice(0, GROUP_BY))
  for (const start of [...groups.keys()].toSorted())
    yield* groups.get(start)!.toSorted((a, b) => (a.api_key_id < b.api_key_id ? -1 : 1))
}

function takeSlice(counts: Generator<UseCount, void>): UseCount[] {
  const slice: UseCount[] = []
  while (slice.length < COUNTS_SLICE) {
    const { value, done } = counts.next()
    if (done === true) break
    slice.push(value)
  }
  return slice
}
