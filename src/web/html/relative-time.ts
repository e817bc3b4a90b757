import { html } from 'hono/html'
import { DAY_US, formatInstant, HOUR_US, type Instant, MINUTE_US } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { type Html, minuteOf } from './text.ts'

/** The longest span that is told in days. Older instants are told as a date. */
const DAYS_MAX = 30

const date = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

/**
 * How long ago an instant was, with the exact instant in the title: in UTC, or in the reader's time
 * zone with script.
 */
export function showAgo(instant: Instant, now: Instant): Html {
  const exact = formatInstant(instant).slice(0, 19)
  return html`<time datetime="${exact}Z" title="${minuteOf(instant)}">${agoInWords(instant, now)}</time>`
}

export function agoInWords(instant: Instant, now: Instant): string {
  const span = now - instant
  // The clock of another process may be ahead by a moment.
  if (span < MINUTE_US && span > -MINUTE_US) return 'just now'
  if (span < 0 || span >= (DAYS_MAX + 1) * DAY_US) return date.format(instant / 1_000)
  if (span < HOUR_US) return `${countOf(Math.floor(span / MINUTE_US), 'minute')} ago`
  if (span < DAY_US) return `${countOf(Math.floor(span / HOUR_US), 'hour')} ago`
  return `${countOf(Math.floor(span / DAY_US), 'day')} ago`
}
