/** Counts values by their size. Observing a value is cheap enough for the request path. */
export interface Histogram {
  /** The upper bounds of the buckets, ascending. One more bucket has what exceeds the last. */
  readonly bounds: readonly number[]
  observe(value: number): void
  /** The values in a bucket, without those of smaller ones. */
  count(bucket: number): number
  sum(): number
}

export function createHistogram(bounds: readonly number[]): Histogram {
  const { length } = bounds
  const limits = Float64Array.from(bounds)
  /** The buckets, and behind them the sum. */
  const numbers = new Float64Array(length + 2)
  return {
    bounds,

    observe(value) {
      let bucket = 0
      while (bucket < length && value > limits[bucket]!) bucket += 1
      numbers[bucket]! += 1
      numbers[length + 1]! += value
    },

    count: (bucket) => numbers[bucket]!,
    sum: () => numbers[length + 1]!,
  }
}
