import type { ClaimCounts } from '../model/health/health.ts'
import { createHistogram } from '../model/health/histogram.ts'

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** In milliseconds. */
const WAITS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000]

/** Counts what the queue does. */
export interface ClaimMeter extends ClaimCounts {
  /** The size of a batch, and how long its first claim waited, in milliseconds. */
  countBatch(size: number, waited: number): void
  countShed(claims: number): void
}

export function createClaimMeter(): ClaimMeter {
  const batchSizes = createHistogram(BATCH_SIZES)
  const waits = createHistogram(WAITS)
  const shed = new Float64Array(1)
  return {
    batchSizes,
    waits,
    shed: () => shed[0]!,

    countBatch(size, waited) {
      batchSizes.observe(size)
      waits.observe(waited)
    },

    countShed(claims) {
      shed[0]! += claims
    },
  }
}
