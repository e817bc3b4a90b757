/** A point in time: whole microseconds since 1970-01-01T00:00:00Z, UTC. */
export type Instant = number

const ISO_8601 = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/i

/** The instant that an ISO 8601 text names, or null. An offset is required; digits past the microsecond are cut. */
export function parseInstant(text: string): Instant | null {
  const parts = ISO_8601.exec(text)
  if (parts === null) return null
  const [, date = '', time, fraction = '', offset] = parts
  const milliseconds = Date.parse(`${date}T${time}${offset}`)
  if (Number.isNaN(milliseconds)) return null
  // Date.parse rolls 30 February over into March; what was written has to be a day of the calendar.
  if (!isCalendarDate(date)) return null
  return milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

function isCalendarDate(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
}

/** ISO 8601 in UTC with six decimals, so that texts sort as instants do. */
export function formatInstant(instant: Instant): string {
  const microseconds = ((instant % 1000) + 1000) % 1000
  const iso = new Date((instant - microseconds) / 1000).toISOString()
  return iso.replace('Z', `${String(microseconds).padStart(3, '0')}Z`)
}

/** The present by the wall clock, for what people read. No rule is decided by it. */
export function presentInstant(): Instant {
  return Date.now() * 1000
}
