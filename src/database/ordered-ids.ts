const COUNTER_MAX = 0xfff

/**
 * Returns a function that makes ids of version 7 (RFC 9562, 5.7 and 6.2). They begin with the time
 * in milliseconds and a counter, so each is greater than the one before. Rows that arrive together
 * are then neighbors in every index. Random ids change about one page of an index per row, and
 * SQLite writes each changed page twice.
 */
export function createOrderedIds(now = Date.now()): () => string {
  let milliseconds = now
  let counter = -1
  return () => {
    counter += 1
    if (counter > COUNTER_MAX) {
      milliseconds += 1
      counter = 0
    }
    const time = milliseconds.toString(16).padStart(12, '0')
    const variantAndRandom = crypto.randomUUID().slice(19)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variantAndRandom}`
  }
}
