import type { Instant } from './instant.ts'

/** How long one counter counts, in microseconds, and how many of them are kept. */
export const SLOT_LENGTH = 600_000_000
export const SLOTS_KEPT = 288
/** Slots that are shown: the last 24 hours. */
export const SLOTS_SHOWN = 144
/** Rows written in one transaction. */
export const COUNTS_SLICE = 200

/** How the requests with one key were answered within one slot of ten minutes. */
export interface UseCount {
  api_key_id: string
  /** The number of the slot, counted from 1970. */
  slot: number
  /** 200s. */
  answered: number
  /** 429s. */
  limited: number
  /** 401s for the key having been revoked. */
  revoked: number
}

export interface UseCountStore {
  /** Adds to what is stored, at most COUNTS_SLICE rows at a time. It costs least in the order of their keys. */
  addUseCounts(counts: readonly UseCount[]): Promise<void>
  /** Of these keys, from a slot on; slots that lie further ahead than SLOTS_KEPT need not be there. */
  listUseCounts(apiKeyIds: readonly string[], fromSlot: number): Promise<UseCount[]>
  /** Removes some of what is older, at most COUNTS_SLICE rows; true if there may be more. */
  dropUseCounts(beforeSlot: number): Promise<boolean>
}

export function slotOf(instant: Instant): number {
  return Math.floor(instant / SLOT_LENGTH)
}
