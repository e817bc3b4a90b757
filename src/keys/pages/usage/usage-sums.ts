import type { Instant } from '../../../model/instant.ts'
import { SLOT_LENGTH_US, type UsageCount } from '../../../model/usage-counts.ts'
import { firstSlotOf, type UsageSpan } from './usage-span.ts'

/** The kinds of answers, from the bottom of a chart to its top. */
export const KINDS = ['answered', 'limited', 'revoked'] as const
export type Kind = (typeof KINDS)[number]
export type Sums = Record<Kind, number>

/** The counts of one key in a span. */
export interface Usage {
  span: UsageSpan
  /** The beginning of the first bar. */
  from: Instant
  /** Oldest first. */
  bars: readonly Sums[]
  sums: Sums
  /** The beginning of the time with the most requests, and their number. */
  peak: { at: Instant; requests: number }
}

/** Sums up the counts of one key. Counts from outside the span are left out. */
export function usageOf(counts: readonly UsageCount[], span: UsageSpan, now: Instant): Usage {
  const { slotsPerBar, slotsPerPeak } = span
  const first = firstSlotOf(span, now)
  const bars = Array.from({ length: span.bars }, noRequests)
  const sums = noRequests()
  const requests = new Map<number, number>()
  for (const count of counts) {
    const bar = bars[Math.floor((count.slot - first) / slotsPerBar)]
    if (bar === undefined) continue
    for (const into of [bar, sums]) for (const kind of KINDS) into[kind] += count[kind]
    const slot = count.slot - (count.slot % slotsPerPeak)
    requests.set(slot, (requests.get(slot) ?? 0) + totalOf(count))
  }
  const [slot, most] = [...requests].reduce((a, b) => (b[1] > a[1] ? b : a), [first, 0])
  return {
    span,
    from: first * SLOT_LENGTH_US,
    bars,
    sums,
    peak: { at: slot * SLOT_LENGTH_US, requests: most },
  }
}

export function totalOf({ answered, limited, revoked }: Sums): number {
  return answered + limited + revoked
}

function noRequests(): Sums {
  return { answered: 0, limited: 0, revoked: 0 }
}
