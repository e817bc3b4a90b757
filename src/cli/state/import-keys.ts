import { nameOf } from '../../listing/accounts/user.ts'
import { presentInstant } from '../../listing/instant.ts'
import type { StateComplaint } from '../../listing/state/declared-state.ts'
import { isKeyTable, readKeyTable } from '../../listing/state/key-table.ts'
import { readKeys } from '../../listing/state/read-state.ts'
import { count, countOf } from '../../listing/text.ts'
import { changeStore, findUser, needOption, needUser } from '../context.ts'
import { Failure } from '../errors.ts'
import { inputName, readInput } from '../input.ts'
import { printJson, say } from '../output.ts'
import { applyPlan } from './apply-plan.ts'
import { keyFilesBeside, parseJson, planOrRefuse, refusal } from './read-file.ts'
import { planJson } from './show-plan.ts'
import type { Shell } from '../shell.ts'

export interface ImportKeysOptions {
  user?: string
  externalId?: string
  hashFile?: string
  json?: boolean
}

/** Adds keys of another site by their hashes. A known key gets the name and prefix of the file. */
export async function importKeys(shell: Shell, options: ImportKeysOptions): Promise<void> {
  const reference = needUser(options.user, options.externalId)
  const file = needOption(options.hashFile, '--hash-file <file>')
  const text = await readInput(shell, file)
  const { json, placeOf } = readHashFile(text, file)
  const placed = (complaints: readonly StateComplaint[]) =>
    complaints.map(({ place, message }) => ({ place: placeOf(place), message: placeOf(message) }))
  await changeStore(shell, async (store) => {
    const now = presentInstant()
    const user = await findUser(store, reference)
    if (user.email === null)
      throw new Failure(
        `nothing was changed: ${nameOf(user)} has no email address, which an import needs. ` +
          `\`server-listing user email\` sets one`,
      )
    const { state, complaints } = readKeys(json, user.email, now, keyFilesBeside(file))
    if (state === null) throw refusal(file, placed(complaints))
    const declared = { organizations: [], users: [state] }
    const kept = { prune: false, now }
    const plan = await planOrRefuse(store, file, declared, complaints, kept, placed)
    await applyPlan(store, declared, { plan, ...kept })
    if (options.json) printJson(shell, planJson(plan, true))
    const added = plan.changes.filter(({ action }) => action === 'add').length
    const listed = state.keys!.length
    for (const { text: key } of plan.keptRevoked) say(shell, `stays revoked: ${key}`)
    say(
      shell,
      `imported ${countOf(listed, 'key')} for ${nameOf(user)}: ${count(added)} new, ` +
        `${count(listed - added)} known`,
    )
  })
}

/** The keys of a JSON array or a CSV table, and how a message names their places. */
function readHashFile(
  text: string,
  file: string,
): { json: unknown; placeOf: (place: string) => string } {
  if (!isKeyTable(text)) return { json: parseJson(text, file), placeOf: (place) => place }
  const table = readKeyTable(text)
  if ('complaint' in table)
    throw new Failure(`nothing was changed: ${inputName(file)} ${table.complaint}`)
  const placeOf = (place: string) =>
    place
      .replace(/keys\[(\d+)\]\.?/g, (_, index: string) => `row ${table.rows[Number(index)]} `)
      .trim()
  return { json: table.keys, placeOf }
}
