import { setImmediate as otherWork } from 'node:timers/promises'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { formatInstant, type Instant } from '../../model/instant.ts'
import { escapeInvisible } from '../../model/characters/invisible.ts'
import { clustersOf } from '../../model/characters/display-width.ts'

/** A piece of a page. Every value in it is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/**
 * Text from a user: it can't turn the writing direction around it, and invisible characters are
 * escaped.
 */
export function isolated(text: string): Html {
  return html`<bdi>${escapeInvisible(text)}</bdi>`
}

/** The same where no element can stand, such as a title. Characters isolate it. */
export function isolatedText(text: string): string {
  return `\u2068${escapeInvisible(text)}\u2069`
}

/** The same in a list of options or in the title of a tab, which need not have all of it. */
export function shortIsolatedText(text: string): string {
  return `\u2068${truncatedText(text)}\u2069`
}

/** Characters that one turn of the event loop escapes. */
const TURN_CHARACTERS = 65_536

/**
 * A long text between tags. Unlike `html`, this leaves quotes as they are, because an escaped one
 * takes six bytes. Not for attributes.
 */
export async function showLongText(text: string): Promise<HtmlEscapedString> {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += TURN_CHARACTERS) {
    if (at > 0) await otherWork()
    const part = text.slice(at, at + TURN_CHARACTERS)
    parts.push(part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
  }
  return raw(parts.join(''))
}

/** Columns of a name on a page, as `clustersOf` counts them: a Chinese letter has two. */
export const NAME_COLUMNS = 46

/** Columns of a name that has a line of its own, or of an email address. */
export const LINE_COLUMNS = 80

/** Bounds the weight of a page. Most scripts take at most three bytes a letter. */
const BYTES_PER_COLUMN = 3
const NAME_BYTES = BYTES_PER_COLUMN * NAME_COLUMNS

/** Isolated text of at most this many columns. It ends with `…` if it was longer. */
export function truncated(text: string, columnsMax = NAME_COLUMNS, bytesMax?: number): Html {
  return html`<bdi>${truncatedText(text, columnsMax, bytesMax)}</bdi>`
}

/** Bytes of a whole name in HTML, for `titled`. */
const TITLE_BYTES_MAX = 300

/** The same for a list with room for more: the title of a cut name has all of it. */
export function titled(text: string, columnsMax = NAME_COLUMNS): Html {
  const shown = truncatedText(text, columnsMax)
  const whole = escapeInvisible(text)
  if (shown === whole || bytesOf(whole) > TITLE_BYTES_MAX) return html`<bdi>${shown}</bdi>`
  return html`<bdi title="${whole}">${shown}</bdi>`
}

/**
 * Truncated text without an element. A cell of a table isolates its text from other cells.
 * `bytesMax` bounds the bytes of HTML before the `…`.
 */
export function truncatedText(
  text: string,
  columnsMax = NAME_COLUMNS,
  bytesMax = Math.min(BYTES_PER_COLUMN * columnsMax, NAME_BYTES),
): string {
  let [cut, shown, columns, bytes] = ['', '', 0, 0]
  // A code unit takes a byte at least.
  for (const cluster of clustersOf(text, bytesMax)) {
    columns += cluster.columns
    bytes += bytesOf(cluster.text)
    if (columns > columnsMax || bytes > bytesMax) return `${shown.trimEnd()}…`
    cut += cluster.text
    // The last column is for the `…`.
    if (columns < columnsMax) shown = cut
  }
  return cut
}

/** Bytes of the characters that HTML escapes. */
const ESCAPED_BYTES: Record<string, number> = { '&': 5, '<': 4, '>': 4, '"': 6, "'": 5 }

/** Bytes of a text in HTML. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text.replace(/[&<>"']/g, (one) => ' '.repeat(ESCAPED_BYTES[one]!)))
}

/** An instant to the minute, such as `2026-01-31 12:00 UTC`. */
export function minuteOf(instant: Instant): string {
  const text = formatInstant(instant)
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`
}

export function showInstant(instant: Instant): Html {
  return html`<time datetime="${formatInstant(instant).slice(0, 19)}Z">${minuteOf(instant)}</time>`
}
