import { DAY_US, HOUR_US, type Instant, MINUTE_US } from './instant.ts'

/** The length of a time slot. */
export const SLOT_LENGTH_US = 10 * MINUTE_US
export const SLOTS_OF_HOUR = HOUR_US / SLOT_LENGTH_US
/**
 * The age, in time slots, from which the first slot of an hour has the counts of the whole hour,
 * and the age from which the store drops them.
 */
export const ROLLED_UP_FROM = (2 * DAY_US) / SLOT_LENGTH_US
export const DROPPED_FROM = (31 * DAY_US) / SLOT_LENGTH_US
/** Rows per transaction. */
export const COUNTS_SLICE = 200

/** The answers to one key's requests within one time slot. */
export interface UsageCount {
  api_key_id: string
  /** The number of the time slot, counted from 1970. A rolled-up hour has its first one. */
  slot: number
  /** 200s. */
  answered: number
  /** 429s. */
  limited: number
  /** 401s of the revoked key. */
  revoked: number
}

export interface UsageCountStore {
  /** Adds to the stored counts. Has at most one count of each key and time slot. */
  addUsageCounts(counts: readonly UsageCount[]): Promise<void>
  /** The counts of these keys from a time slot on. */
  listUsageCounts(apiKeyIds: readonly string[], fromSlot: number): Promise<UsageCount[]>
  /**
   * Adds at most COUNTS_SLICE older rows to the rows of their hours, and removes them. True if more
   * may exist. The sums of an hour stay the same at every moment.
   */
  rollUpUsageCounts(beforeSlot: number): Promise<boolean>
  /** Removes at most COUNTS_SLICE older rows. True if more may exist. */
  dropUsageCounts(beforeSlot: number): Promise<boolean>
}

export function slotOf(instant: Instant): number {
  return Math.floor(instant / SLOT_LENGTH_US)
}

/** The first slot of the slot's hour. */
export function hourOf(slot: number): number {
  return slot - (slot % SLOTS_OF_HOUR)
}
