import { FIXED_PREFIX, KEY_BODY_LENGTH } from '../model/key-format.ts'

// Matches upper case too, because such a copy reveals the key as well.
const KEY = new RegExp(`${FIXED_PREFIX}[0-9a-f]{${KEY_BODY_LENGTH}}`, 'gi')
/**
 * Finds every distinct key in a text, even without spaces around it. The fixed prefix has letters
 * that no key body has, so a key can't begin inside another one.
 */
export function findKeys(text: string): string[] {
  return [...new Set(text.match(KEY)?.map((key) => key.toLowerCase()))]
}
