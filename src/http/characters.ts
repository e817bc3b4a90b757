/*
 * The characters of a head by their roles in the grammar (RFC 9110, 5.5 and 5.6; RFC 9112, 3), and
 * the steps with which the readers walk over Latin-1 text.
 */

/** Sets of characters; a character can be in several. */
export const TOKEN = 1
/** The characters of a target and a version: ASCII without controls and the space. */
export const VISIBLE = 2
/** The characters of a field's value, with white space. */
export const VALUE = 4
/** White space beside a field's value. */
export const BLANK = 8
/** What separates the parts of a request line. */
export const SPACE = 16
/** What an empty line consists of. */
export const LINE_END = 32

const CR = 13
const LF = 10

/** The sets of each character, by its code. */
const SETS = new Uint8Array(256)
for (let code = 0; code < 256; code += 1) {
  const character = String.fromCharCode(code)
  if (/[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(character)) SETS[code]! |= TOKEN
  if (/[!-~]/.test(character)) SETS[code]! |= VISIBLE
  if (/[\t -~\x80-\xff]/.test(character)) SETS[code]! |= VALUE
  if (/[\t ]/.test(character)) SETS[code]! |= BLANK
  if (character === ' ') SETS[code]! |= SPACE
  if (code === CR || code === LF) SETS[code]! |= LINE_END
}

export function isIn(set: number, text: string, at: number): boolean {
  return (SETS[text.charCodeAt(at)]! & set) !== 0
}

/** The first position from `from` that is not in the set, at most `limit`. */
export function skip(set: number, text: string, from: number, limit: number): number {
  let at = from
  while (at < limit && (SETS[text.charCodeAt(at)]! & set) !== 0) at += 1
  return at
}

export const INCOMPLETE = -1
export const INVALID = -2

/** The position behind the CR LF at `at`. INCOMPLETE if the text ends before it does. */
export function skipLineEnd(text: string, at: number, limit: number): number {
  if (at === limit) return INCOMPLETE
  if (text.charCodeAt(at) !== CR) return INVALID
  if (at + 1 === limit) return INCOMPLETE
  return text.charCodeAt(at + 1) === LF ? at + 2 : INVALID
}
