import { nameOf } from '../../accounts/user.ts'
import { findUser, needUser, wordsFor } from '../../accounts/commands/named-user.ts'
import { operatorAt } from '../../model/audit.ts'
import { presentInstant } from '../../model/instant.ts'
import { quote } from '../../model/text.ts'
import { changeStore, needOption } from '../../terminal/context.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { renameApiKey } from '../records/renamed-keys.ts'
import { keyJson } from './key-json.ts'
import { refuseWholeKey } from './revoke-key.ts'

export interface RenameOptions {
  user?: string
  externalId?: string
  name?: string
  json?: boolean
}

/** Gives an active key another name. Programs that use the key notice nothing. */
export async function rename(shell: Shell, keyId: string, options: RenameOptions): Promise<void> {
  refuseWholeKey(keyId)
  const reference = needUser(options.user, options.externalId)
  const name = needOption(options.name, '--name <name>')
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    const actor = operatorAt(presentInstant())
    const renamed = await renameApiKey(store.database, user.id, keyId, { name }, actor)
    if (renamed === null)
      throw new Failure(
        `${nameOf(user)} has no key with the id ${quote(keyId)}. ` +
          `\`server-listing key list ${wordsFor(reference)}\` shows the ids`,
      )
    if ('refused' in renamed) {
      const Problem = renamed.because === 'name' ? Misuse : Failure
      throw new Problem(`the key ${quote(keyId)} was not renamed: ${renamed.refused}`)
    }
    const { apiKey } = renamed
    if (options.json) printJson(shell, keyJson(apiKey))
    say(shell, `${apiKey.id} (${apiKey.prefix}…) is named ${quote(apiKey.name)}`)
  })
}
