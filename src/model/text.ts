import { escapeInvisible, isInvisible } from './characters/invisible.ts'

/** A MB in bytes, as messages about files count them. */
export const MEGABYTE = 1024 * 1024

/** The bytes that another program answers. Null if it sends more than one MB. */
export async function readAnswer(parts: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const part of parts) {
    length += part.length
    if (length > MEGABYTE) return null
    read.push(part)
  }
  return Buffer.concat(read)
}

/** The error of a line of text, in words that follow "must". Null if the line is valid. */
export function complaintAboutLine(text: string, codePointsMax: number): string | null {
  // Only a text of more code units can have too many characters.
  const length = text.length <= codePointsMax ? text.length : codePointsIn(text)
  if (length < 1 || length > codePointsMax)
    return `have 1 to ${codePointsMax} characters, not ${length}`
  if (/\p{Cc}|[\u2028\u2029]/u.test(text)) return 'have no control characters'
  if (!text.isWellFormed()) return 'be well-formed Unicode'
  if (isInvisible(text)) return 'have a character that can be seen'
  return null
}

/** An array of millions of characters would take hundreds of megabytes. */
function codePointsIn(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** The maximum length of a quoted value. A longer one is truncated. */
const QUOTED_MAX = 80

/** Quotes, escapes and truncates a value for a message. */
export function quote(value: unknown): string {
  const json = JSON.stringify(withoutDepths(value)) ?? String(value)
  // Escaping takes long, and makes no text shorter. The rest of a long value is not shown.
  const text = escapeInvisible(json.slice(0, 5 * QUOTED_MAX))
  const characters = [...text]
  return characters.length <= QUOTED_MAX ? text : `${characters.slice(0, 77).join('')}…`
}

/**
 * Omits values nested deeper than a quote is long, because `JSON.stringify` would overflow the
 * stack.
 */
function withoutDepths(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === QUOTED_MAX) return null
  if (Array.isArray(value)) return value.map((part) => withoutDepths(part, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withoutDepths(part, depth + 1)]),
  )
}

/** A number for people, such as `1,200`. */
export function count(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 server`, `1,200 servers`. */
export function countOf(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`
}
