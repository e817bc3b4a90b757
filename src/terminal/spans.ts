import { DAY_US, HOUR_US, type Instant, parseInstant } from '../model/instant.ts'
import { quote } from '../model/text.ts'
import { Misuse } from './errors.ts'

/** The value of an option that is a whole number from `min` to `max`. */
export function readNumber(text: string, flag: string, min: number, max: number): number {
  const number = Number(text)
  if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number
  throw new Misuse(`${flag} must be a number from ${min} to ${max}, not ${quote(text)}`)
}

/** The value of an option such as `90d` or `12h`, in microseconds. */
export function readSpan(text: string, flag: string): number {
  const [, number, unit] = /^(\d{1,5})(d|h)$/.exec(text) ?? []
  if (number !== undefined && Number(number) > 0)
    return Number(number) * (unit === 'd' ? DAY_US : HOUR_US)
  throw new Misuse(`${flag} must be days or hours, such as 90d or 12h, not ${quote(text)}`)
}

/** The value of an option that is an instant, or a span before `now`. */
export function readSince(text: string, flag: string, now: Instant): Instant {
  if (/^\d+[a-z]$/.test(text)) return now - readSpan(text, flag)
  const instant = parseInstant(text)
  if (instant !== null) return instant
  throw new Misuse(
    `${flag} must be an instant such as 2026-01-31T12:00:00Z, or days or hours such as 7d or ` +
      `12h, not ${quote(text)}`,
  )
}
