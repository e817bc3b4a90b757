/**
 * A set of numbers of keys, from 1 on. One bit for each number up to the largest one, outside the
 * garbage-collected heap. The numbers come out sorted: sorting many of them at once takes
 * milliseconds.
 */
export interface SerialSet {
  add(serial: number): void
  size(): number
  /** The next larger members, at most `max`, in ascending order. */
  after(serial: number, max: number): number[]
  /** 0 for the empty set. */
  largest(): number
  clear(): void
}

export function createSerialSet(): SerialSet {
  let words = new Int32Array(1_024)
  let largest = 0
  let size = 0

  return {
    add(serial) {
      const word = serial >>> 5
      if (word >= words.length) {
        const larger = new Int32Array(2 * word)
        larger.set(words)
        words = larger
      }
      const bit = 1 << (serial & 31)
      if ((words[word]! & bit) !== 0) return
      words[word]! |= bit
      size += 1
      if (serial > largest) largest = serial
    },

    size: () => size,

    after(serial, max) {
      const members: number[] = []
      const last = largest >>> 5
      let word = (serial + 1) >>> 5
      // The bits of the numbers up to `serial` are masked.
      let bits = word <= last ? words[word]! & (-1 << ((serial + 1) & 31)) : 0
      while (word <= last && members.length < max) {
        if (bits === 0) {
          word += 1
          bits = words[word]!
        } else {
          members.push(32 * word + 31 - Math.clz32(bits & -bits))
          bits &= bits - 1
        }
      }
      return members
    },

    largest: () => largest,

    clear() {
      words.fill(0, 0, (largest >>> 5) + 1)
      largest = size = 0
    },
  }
}
