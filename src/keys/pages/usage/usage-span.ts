import { DAY_US, HOUR_US } from '../../../model/instant.ts'
import { hourOf, SLOT_LENGTH_US, SLOTS_OF_HOUR, slotOf } from '../../../model/usage-counts.ts'
import type { Instant } from '../../../model/instant.ts'
import { showFilter } from '../../../web/html/parts.ts'
import type { Html } from '../../../web/html/text.ts'

/** What a chart covers, up to the present. */
export interface UsageSpan {
  id: string
  label: string
  /** After "in the last". */
  inWords: string
  bars: number
  slotsPerBar: number
  /** What one bar covers, after "per". */
  bar: string
  /** The unit in which the busiest time is sought: hours are all that an older count has. */
  slotsPerPeak: number
  marks: readonly string[]
}

const DAY_SLOTS = DAY_US / SLOT_LENGTH_US

export const LAST_DAY: UsageSpan = {
  id: '24h',
  label: '24 hours',
  inWords: '24 hours',
  bars: DAY_SLOTS,
  slotsPerBar: 1,
  bar: '10 minutes',
  slotsPerPeak: 1,
  marks: ['24 h ago', '12 h ago', 'now'],
}

/** A bar of 24 hours ends with the present hour, so that it is a day in no time zone. */
export const SPANS: readonly UsageSpan[] = [
  LAST_DAY,
  {
    id: '7d',
    label: '7 days',
    inWords: '7 days',
    // A bar of one hour would be less than two pixels wide on a phone.
    bars: (7 * DAY_US) / (2 * HOUR_US),
    slotsPerBar: 2 * SLOTS_OF_HOUR,
    bar: '2 hours',
    slotsPerPeak: SLOTS_OF_HOUR,
    marks: ['7 days ago', 'now'],
  },
  {
    id: '30d',
    label: '30 days',
    inWords: '30 days',
    bars: 30,
    slotsPerBar: DAY_SLOTS,
    bar: '24 hours',
    slotsPerPeak: SLOTS_OF_HOUR,
    marks: ['30 days ago', '15 days ago', 'now'],
  },
]

/** The span of this id, or the shortest one. */
export function spanOf(id: string | undefined): UsageSpan {
  return SPANS.find((span) => span.id === id) ?? LAST_DAY
}

/** The first time slot of the span's first bar. */
export function firstSlotOf({ bars, slotsPerBar }: UsageSpan, now: Instant): number {
  const slot = slotOf(now)
  const end = slotsPerBar === 1 ? slot + 1 : hourOf(slot) + SLOTS_OF_HOUR
  return end - bars * slotsPerBar
}

/** The address of a page with charts of this span. */
export function pathWith(path: string, span: UsageSpan): string {
  return span === LAST_DAY ? path : `${path}?span=${span.id}`
}

export function showSpans(path: string, current: UsageSpan): Html {
  return showFilter(
    'Period of the charts',
    SPANS.map((span) => ({
      href: pathWith(path, span),
      label: span.label,
      isCurrent: span === current,
    })),
  )
}
