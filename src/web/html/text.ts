import { setImmediate as otherWork } from 'node:timers/promises'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { formatInstant, type Instant } from '../../model/instant.ts'
import { escapeInvisible } from '../../model/characters/invisible.ts'

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

/** An instant to the minute, such as `2026-01-31 12:00 UTC`. */
export function minuteOf(instant: Instant): string {
  const text = formatInstant(instant)
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`
}

export function showInstant(instant: Instant): Html {
  return html`<time datetime="${formatInstant(instant).slice(0, 19)}Z">${minuteOf(instant)}</time>`
}
