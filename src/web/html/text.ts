import { setImmediate as otherWork } from 'node:timers/promises'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { formatInstant, type Instant } from '../../model/instant.ts'
import { escapedPieces, escapeInvisible } from '../../model/invisible.ts'

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
  return `\u2068${truncatedText(text, NAME_BYTES)}\u2069`
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

/** Bytes of the characters that HTML escapes. */
const ESCAPED_BYTES: Record<string, number> = { '&': 5, '<': 4, '>': 4, '"': 6, "'": 5 }

/** Bytes of a name in a list or a title, for `truncated`. */
export const NAME_BYTES = 80

/**
 * Isolated text of at most `bytesMax` bytes of HTML, so that lists stay small whatever users write.
 */
export function truncated(text: string, bytesMax: number): Html {
  return html`<bdi>${truncatedText(text, bytesMax)}</bdi>`
}

/** The same without an element. A cell of a table isolates its text from other cells. */
export function truncatedText(text: string, bytesMax: number): string {
  let [cut, bytes] = ['', 0]
  for (const piece of escapedPieces(text)) {
    bytes += ESCAPED_BYTES[piece] ?? Buffer.byteLength(piece)
    if (bytes > bytesMax) return `${cut}…`
    cut += piece
  }
  return cut
}

/** An instant to the minute, such as `2026-01-31 12:00 UTC`. */
export function minuteOf(instant: Instant): string {
  const text = formatInstant(instant)
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`
}

export function showInstant(instant: Instant): Html {
  return html`<time datetime="${formatInstant(instant).slice(0, 19)}Z">${minuteOf(instant)}</time>`
}
