import { nameOf, type User } from '../../accounts/user.ts'
import { presentInstant } from '../../model/instant.ts'
import { type ListedKey, readKeyTable } from '../key-table.ts'
import { FORMAT_VERSION } from '../document.ts'
import { readDocument } from '../read-document.ts'
import { count, countOf } from '../../model/text.ts'
import { changeStore, needOption } from '../../terminal/context.ts'
import { findUser, readUser } from '../../accounts/commands/named-user.ts'
import { Failure } from '../../terminal/errors.ts'
import { inputName, readInput } from '../../terminal/input.ts'
import { printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { applyPlans } from './apply-plans.ts'
import { planFile } from './plan-file.ts'
import { keyFilesBeside, parseJson, refusal } from './read-file.ts'
import { countChanges, keptRevoked, planJson } from './show-plan.ts'

export interface ImportKeysOptions {
  user?: string
  externalId?: string
  hashFile?: string
  json?: boolean
}

/**
 * Adds keys of another site by their hashes, to one user or each to the user that its row names. A
 * known key gets the name and prefix of the file.
 */
export async function importKeys(shell: Shell, options: ImportKeysOptions): Promise<void> {
  const reference = readUser(options.user, options.externalId, '--user')
  const file = needOption(options.hashFile, '--hash-file <file>')
  const listed = listedIn(await readInput(shell, file), file)
  await changeStore(shell, async (store) => {
    const now = presentInstant()
    const user = reference === null ? null : await findUser(store, reference)
    const put_keys = listed.map((one) => (user === null ? one.json : ownedBy(user, one, file)))
    const read = readDocument({ format_version: FORMAT_VERSION, put_keys }, 'operator', {
      now,
      readKeyFile: keyFilesBeside(file),
      placeOf: (row) => listed[row]!.place,
    })
    if ('complaints' in read) throw refusal(file, read.complaints)
    const planned = await planFile(store.database, file, read.document, now, [])
    const { plans } = planned
    await applyPlans(shell, store, planned, 'keys imported')
    if (options.json) printJson(shell, planJson(plans, true))
    const { added } = countChanges(plans)
    const kept = keptRevoked(plans)
    for (const { of, text } of kept) say(shell, `stays revoked: ${text} of ${of}`)
    const whose = user === null ? '' : ` for ${nameOf(user)}`
    const revoked = kept.length === 0 ? '' : `, ${count(kept.length)} that stay revoked`
    say(
      shell,
      `imported ${countOf(listed.length, 'key')}${whose}: ${count(added)} new, ` +
        `${count(listed.length - added)} known${revoked}`,
    )
  })
}

/** A key of the user whom the command line names. */
function ownedBy({ id }: User, { place, json }: ListedKey, file: string): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (['external_id', 'email', 'user_id'].some((name) => name in json))
    throw refusal(file, [{ place, message: 'names a user, beside the one of the command line' }])
  return { ...json, user_id: id }
}

/** The keys of a JSON array or a CSV table. */
function listedIn(text: string, file: string): ListedKey[] {
  const table = readKeyTable(text)
  if (table === null) {
    const json = parseJson(text, file)
    if (!Array.isArray(json)) throw refusal(file, [{ place: 'keys', message: 'must be an array' }])
    return json.map((key: unknown, at) => ({ place: `keys[${at}]`, json: key }))
  }
  if ('keys' in table) return table.keys
  throw new Failure(`nothing was changed: ${inputName(file)} ${table.complaint}`)
}
