/** A point in time, in whole microseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** Spans in microseconds, the unit of instants. */
export const MINUTE_US = 60_000_000
export const HOUR_US = 60 * MINUTE_US
export const DAY_US = 24 * HOUR_US

/**
 * The last instant that a number can hold exactly, in 2255. The first one, in 1684, is its
 * negative.
 */
export const INSTANT_MAX: Instant = Number.MAX_SAFE_INTEGER

const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):\d{2}:\d{2})(?:\.(\d{1,9}))?(?:Z|([+-](?:0\d|1[0-5]))(?::?(\d{2}))?)$/i

/**
 * Parses ISO 8601 with an offset, such as `Z`, `+01`, `+0100` or `+01:00`; null if invalid.
 * Truncates digits after the microsecond. PostgreSQL's `is_instant` reads the same texts.
 */
export function parseInstant(text: string): Instant | null {
  const parts = ISO_8601.exec(text)
  if (parts === null) return null
  const [, date = '', time, fraction = '', hours = '+00', minutes = '00'] = parts
  const milliseconds = Date.parse(`${date}T${time}${hours}:${minutes}`)
  if (Number.isNaN(milliseconds)) return null
  // Date.parse accepts 30 February as a day in March. The text must name a real day.
  if (!isCalendarDate(date)) return null
  return milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

function isCalendarDate(date: string): boolean {
  const midnight = new Date(date)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
}

/** ISO 8601 in UTC with six decimals, so that texts sort as instants do. */
export function formatInstant(instant: Instant): string {
  const microseconds = ((instant % 1000) + 1000) % 1000
  const iso = new Date((instant - microseconds) / 1000).toISOString()
  return iso.replace('Z', `${String(microseconds).padStart(3, '0')}Z`)
}

/** The present on the wall clock, for display. The rate limit does not use it. */
export function presentInstant(): Instant {
  return Date.now() * 1000
}

export function formatNullable(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}
