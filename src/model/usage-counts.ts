import { DAY_US, type Instant, MINUTE_US } from './instant.ts'

/** The length of a time slot. The store keeps two days of slots, and the chart shows one day. */
export const SLOT_LENGTH_US = 10 * MINUTE_US
export const SLOTS_KEPT = (2 * DAY_US) / SLOT_LENGTH_US
export const SLOTS_SHOWN = DAY_US / SLOT_LENGTH_US
/** Rows per transaction. */
export const COUNTS_SLICE = 200

/** The answers to one key's requests within one time slot. */
export interface UsageCount {
  api_key_id: string
  /** The number of the time slot, counted from 1970. */
  slot: number
  /** 200s. */
  answered: number
  /** 429s. */
  limited: number
  /** 401s of the revoked key. */
  revoked: number
}

export interface UsageCountStore {
  /** Adds at most COUNTS_SLICE rows to the stored counts. Rows sorted by key cost least. */
  addUsageCounts(counts: readonly UsageCount[]): Promise<void>
  /** The counts of these keys from a time slot on. May omit slots more than SLOTS_KEPT ahead. */
  listUsageCounts(apiKeyIds: readonly string[], fromSlot: number): Promise<UsageCount[]>
  /** Removes at most COUNTS_SLICE older rows. True if more may exist. */
  dropUsageCounts(beforeSlot: number): Promise<boolean>
}

export function slotOf(instant: Instant): number {
  return Math.floor(instant / SLOT_LENGTH_US)
}
