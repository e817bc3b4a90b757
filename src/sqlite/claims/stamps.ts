import type { Instant } from '../../model/instant.ts'

/** The time of a granted claim on both clocks. */
export interface Stamp {
  claimed_at: Instant
  monotonic: number
}

/** The last use of each key since the process started, by the key's number. */
export interface Stamps {
  /**
   * The monotonic stamp of the key's last use; 0 if there is none. After a restore another key may
   * have the number, so that a stamp counts only for the key that it was set for.
   */
  lastUse(serial: number, keyHash: Uint8Array): number
  /** The last stamp that was set for this number. */
  get(serial: number): Stamp
  set(serial: number, keyHash: Uint8Array, stamp: Stamp): void
}

/** Numbers per key: the two clocks and the tag. */
const WIDTH = 3

export function createStamps(): Stamps {
  // Serials have no gaps, so that an array is smaller than any map.
  let values = new Float64Array()
  return {
    lastUse(serial, keyHash) {
      const at = WIDTH * serial
      const last = values[at] ?? 0
      return last !== 0 && values[at + 2] === tagOf(keyHash) ? last : 0
    },

    get(serial) {
      const at = WIDTH * serial
      return { monotonic: values[at]!, claimed_at: values[at + 1]! }
    },

    set(serial, keyHash, { monotonic, claimed_at }) {
      const at = WIDTH * serial
      if (at >= values.length) {
        const larger = new Float64Array(2 * WIDTH * serial)
        larger.set(values)
        values = larger
      }
      values[at] = monotonic
      values[at + 1] = claimed_at
      values[at + 2] = tagOf(keyHash)
    },
  }
}

/** 32 bits of a key's hash, which tell keys with the same number apart. */
function tagOf(hash: Uint8Array): number {
  return ((hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!) >>> 0
}
