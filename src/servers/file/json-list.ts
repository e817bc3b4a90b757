import { count } from '../../model/text.ts'
import { ENTRY_LENGTH_MAX, type FoundRecord, NO_LIST, type Unreadable } from './record.ts'

const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const QUOTE = 0x22
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/**
 * The values of a JSON array, each parsed by itself: parsing a whole file at once holds the event
 * loop. Returns the complaint about the array, or null if it ends well.
 */
export function* jsonRecords(text: string): Generator<FoundRecord, Unreadable | null> {
  let start = text.indexOf('[') + 1
  if (text[afterSpace(text, start)] === ']') return complaintAboutEnd(text, start)
  for (let number = 1; ; number += 1) {
    const place = `entry ${number}`
    const [end, fields] = spanOfValue(text, start)
    if (end - start > ENTRY_LENGTH_MAX)
      return { complaint: `has more than ${count(ENTRY_LENGTH_MAX)} characters in ${place}` }
    const parsed = parse(text.slice(start, end), place)
    if ('complaint' in parsed) return parsed
    const { value } = parsed
    // Parsing keeps only the last of two fields with one name.
    const isTwice = Object.keys(Object(value)).length < fields
    yield { place, value, length: end - start, ...(isTwice && { mistake: TWICE }) }
    if (text.charCodeAt(end) !== COMMA) return complaintAboutEnd(text, end)
    start = end + 1
  }
}

const TWICE = 'has a field twice'

/**
 * The index behind a value: of the comma or the bracket, or one that makes the value too long. Also
 * the number of fields that an object writes.
 */
function spanOfValue(text: string, start: number): [end: number, fields: number] {
  const last = Math.min(text.length, start + ENTRY_LENGTH_MAX + 1)
  let depth = 0
  let fields = 0
  let isString = false
  for (let at = start; at < last; at += 1) {
    const code = text.charCodeAt(at)
    if (isString) {
      if (code === BACKSLASH) at += 1
      else isString = code !== QUOTE
    } else if (code === QUOTE) isString = true
    else if (OPENING.has(code)) depth += 1
    else if (depth === 0 && (code === COMMA || CLOSING.has(code))) return [at, fields]
    else if (CLOSING.has(code)) depth -= 1
    else if (depth === 1 && code === COLON) fields += 1
  }
  return [last, fields]
}

function parse(text: string, place: string): { value: unknown } | Unreadable {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    // The position counts from the start of the entry.
    const reason = (error as Error).message.replace(/ in JSON at position .*/, '')
    return { complaint: `is not JSON in ${place}: ${reason}` }
  }
}

function complaintAboutEnd(text: string, end: number): Unreadable | null {
  const at = afterSpace(text, end)
  if (text[at] !== ']') return { complaint: 'is not JSON: its list has no ] at the end' }
  let after = afterSpace(text, at + 1)
  // An answer of the API is an object around its list.
  if (text[afterSpace(text, 0)] === '{') {
    if (text[after] === ',') return { complaint: `${NO_LIST}, which has only "servers"` }
    if (text[after] !== '}') return { complaint: 'is not JSON: it has no } behind its list' }
    after = afterSpace(text, after + 1)
  }
  if (after < text.length) return { complaint: 'is not JSON: it has more text behind its list' }
  return null
}

function afterSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1
  return at
}
