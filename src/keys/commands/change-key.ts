import type { ApiKey } from '../api-key.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH } from '../../model/key-format.ts'
import { nameOf, type User } from '../../accounts/user.ts'
import { presentInstant } from '../../model/instant.ts'
import { findKeys } from '../leaked-keys.ts'
import { type Leaked, revokeLeakedKeys } from '../records/leaked-keys.ts'
import { count, quote } from '../../model/text.ts'
import { changeStore, HELP_HINT, needOption } from '../../terminal/context.ts'
import {
  findUser,
  needUser,
  type UserReference,
  wordsFor,
} from '../../accounts/commands/named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { readAsciiOfInput } from '../../terminal/input.ts'
import { keyJson } from './key-json.ts'
import { printJson, say, shortInstant } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import type { Database } from '../../database/database.ts'
import { apiKeys } from '../records/api-keys.ts'
import { renameApiKey } from '../records/renamed-keys.ts'
import { operatorAt } from '../../model/audit.ts'

export interface ChangeOptions {
  user?: string
  externalId?: string
  name?: string
  keyStdin?: boolean
  json?: boolean
}

/** Gives an active key another name. Programs that use the key notice nothing. */
export async function rename(shell: Shell, keyId: string, options: ChangeOptions): Promise<void> {
  refuseWholeKey(keyId)
  const reference = needUser(options.user, options.externalId)
  const name = needOption(options.name, '--name <name>')
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    const actor = operatorAt(presentInstant())
    const renamed = await renameApiKey(store.database, user.id, keyId, { name }, actor)
    if (renamed === null) throw notFound(user, keyId, reference)
    if ('refused' in renamed) {
      const Problem = renamed.because === 'name' ? Misuse : Failure
      throw new Problem(`the key ${quote(keyId)} was not renamed: ${renamed.refused}`)
    }
    const { apiKey } = renamed
    if (options.json) printJson(shell, keyJson(apiKey))
    say(shell, `${apiKey.id} (${apiKey.prefix}…) is named ${quote(apiKey.name)}`)
  })
}

/** Revokes by the id of a key or by a text that contains leaked keys. */
export async function revoke(
  shell: Shell,
  keyId: string | undefined,
  options: ChangeOptions,
): Promise<void> {
  const now = presentInstant()
  if (options.keyStdin) return revokeLeaked(shell, keyId, options, now)
  await revokeById(shell, keyId, options, now)
}

function sayRevoked(shell: Shell, revoked: ApiKey, now: number): void {
  const named = `${revoked.id} (${revoked.prefix}…)`
  if (revoked.revoked_at === now) say(shell, `revoked ${named}`)
  else say(shell, `${named} was already revoked at ${shortInstant(revoked.revoked_at, '')}`)
}

/** The message does not repeat the argument. */
function refuseWholeKey(keyId: string | undefined): void {
  if (!keyId?.toLowerCase().startsWith(FIXED_PREFIX)) return
  throw new Misuse(
    'the argument is a key, not the id of a key. The shell history now contains it. ' +
      'To revoke it, run `server-listing key revoke --key-stdin` and paste the key',
  )
}

async function revokeById(
  shell: Shell,
  keyId: string | undefined,
  options: ChangeOptions,
  now: number,
): Promise<void> {
  refuseWholeKey(keyId)
  const reference = needUser(options.user, options.externalId)
  if (keyId === undefined)
    throw new Misuse(
      `<key-id> is missing. ${howToList(reference)}. To ` +
        `revoke a key by its full text, use --key-stdin\n${HELP_HINT}`,
    )
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    const revoked = await apiKeys(store.database).revokeApiKey(user.id, keyId, operatorAt(now))
    if (revoked === null) throw notFound(user, keyId, reference)
    if (options.json) printJson(shell, [keyJson(revoked)])
    sayRevoked(shell, revoked, now)
  })
}

function notFound(user: User, keyId: string, reference: UserReference): Failure {
  return new Failure(
    `${nameOf(user)} has no key with the id ${quote(keyId)}. ${howToList(reference)}`,
  )
}

function howToList(reference: UserReference): string {
  return `\`server-listing key list ${wordsFor(reference)}\` shows the ids`
}

async function revokeLeaked(
  shell: Shell,
  keyId: string | undefined,
  options: ChangeOptions,
  now: number,
): Promise<void> {
  if ([keyId, options.user, options.externalId].some((one) => one !== undefined))
    throw new Misuse(
      '--key-stdin reads the keys from standard input; leave out --user, --external-id and the id',
    )
  const text = await readAsciiOfInput(shell)
  if (text.trim() === '')
    throw new Misuse(
      'standard input is empty; --key-stdin reads a text that contains API keys from it',
    )
  await changeStore(shell, async (store) => {
    const { found, apiKeys } = await revokeInParts(shell, store.database, text, now)
    if (apiKeys.length === 0) throw noneRevoked(found)
    if (options.json) printJson(shell, apiKeys.map(keyJson))
    const unknown = found - apiKeys.length
    if (unknown > 0)
      say(
        shell,
        `${unknown} of the ${found} keys on standard input ` +
          `${unknown === 1 ? 'is not an API key' : 'are not API keys'} of this service`,
      )
  })
}

function noneRevoked(found: number): Failure {
  // The message does not repeat the text, which may contain keys of another service.
  if (found === 0)
    return new Failure(
      `standard input contains no API key. A key is ${FIXED_PREFIX} and ${KEY_BODY_LENGTH} hex ` +
        'digits',
    )
  return new Failure(
    found === 1
      ? 'standard input is not an API key of this service'
      : `standard input has ${found} keys, but none of them is an API key of this service`,
  )
}

/** Reports each part before the next one, so that a failure hides no revocation. */
async function revokeInParts(
  shell: Shell,
  database: Database,
  text: string,
  now: number,
): Promise<Leaked> {
  let lookedUp = 0
  try {
    return await revokeLeakedKeys(database, text, operatorAt(now), {
      async onPart(apiKeys, soFar) {
        lookedUp = soFar
        for (const apiKey of apiKeys) {
          sayRevoked(shell, apiKey, now)
        }
      },
    })
  } catch (error) {
    if (lookedUp === 0) throw error
    throw new Failure(
      `looked up ${count(lookedUp)} of the ${count(findKeys(text).length)} keys on standard ` +
        `input and revoked those listed above, then failed: ${(error as Error).message}. ` +
        'Run the same command again to finish',
    )
  }
}
