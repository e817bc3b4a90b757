import { prefixOf } from '../keys/api-key.ts'
import { FIXED_PREFIX } from '../model/key-format.ts'
import { hashApiKey } from '../model/key-hash.ts'

/** The text of a file that a `key_file` names, or the reason why it can't be read. */
export type ReadKeyFile = (name: string) => { text: string } | { complaint: string }

/** A key of another site may have another body. The prefix must not be most of it. */
const WHOLE_KEY = new RegExp(`^${FIXED_PREFIX}[!-~]{23,}$`)

/**
 * Replaces the `key_file` of a row by the hash and the prefix of its key. Returns a field and what
 * is wrong with it, or null.
 */
export function readKey(
  row: Record<string, unknown>,
  readKeyFile: ReadKeyFile = () => ({ complaint: 'is for files of an operator' }),
): [string, string] | null {
  const { key_hash, key_file, prefix } = row
  if (typeof key_file !== 'string')
    return key_hash === undefined
      ? ['key_hash', 'is missing; a key needs "key_hash" or "key_file"']
      : null
  if (key_hash !== undefined)
    return ['key_file', 'stands beside "key_hash"; a key needs one of the two']
  const file = readKeyFile(key_file)
  if ('complaint' in file) return ['key_file', file.complaint]
  const key = file.text.replace(/\r?\n$/, '')
  if (!WHOLE_KEY.test(key))
    return [
      'key_file',
      `names a file that is not one API key and a line end. A key begins with ${FIXED_PREFIX}`,
    ]
  row.key_hash = hashApiKey(key).toString('hex')
  row.prefix = prefixOf(key)
  delete row.key_file
  return prefix === undefined || prefix === row.prefix
    ? null
    : ['prefix', 'is not how the key in "key_file" begins']
}
