import { FIXED_PREFIX, KEY_BODY_LENGTH, PREFIX_LENGTH } from '../model/key-format.ts'

const SHOWN_LENGTH = PREFIX_LENGTH - FIXED_PREFIX.length
// Matches upper case too, because such a copy reveals the key as well.
const KEY = new RegExp(`${FIXED_PREFIX}[0-9a-f]{${KEY_BODY_LENGTH}}`, 'gi')
const BEGINNING = new RegExp(`${FIXED_PREFIX}[0-9a-f]{${SHOWN_LENGTH}}`, 'gi')

/**
 * Finds every distinct key in a text, even without spaces around it. The fixed prefix has letters
 * that no key body has, so a key can't begin inside another one.
 */
export function findKeys(text: string): string[] {
  return distinct(text.match(KEY))
}

/**
 * Finds the prefix of every key of which the text has the beginning only, as scanners and pages
 * show it.
 */
export function findPrefixes(text: string): string[] {
  return distinct(text.replace(KEY, ' ').match(BEGINNING))
}

function distinct(found: readonly string[] | null): string[] {
  return [...new Set(found?.map((one) => one.toLowerCase()))]
}
