import type { Command } from 'commander'
import { type ApiKey, FIXED_PREFIX, hashApiKey } from '../listing/api-key.ts'
import { formatInstant, presentInstant } from '../listing/instant.ts'
import { issueApiKey } from '../listing/manage-api-keys.ts'
import { quote } from '../listing/text.ts'
import { findUser, HELP_HINT, needOption, withStore } from './context.ts'
import { Failure, Misuse } from './errors.ts'
import { readInput } from './input.ts'
import { print, printJson, printTable, say, shortInstant } from './output.ts'

export function addKeyCommands(program: Command): void {
  const key = program
    .command('key')
    .description('the keys that users call the API with')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key issue --user ada@example.com --name "Discord bot"
  server-listing key list --user ada@example.com
  server-listing key revoke --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10`,
    )

  key
    .command('issue')
    .description('issue a key, and print it, once: it is kept nowhere')
    .usage('--user <email> --name <name>')
    .option('--user <email>', 'whose key it will be')
    .option('--name <name>', 'what it is for, in 1 to 64 characters')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key issue --user ada@example.com --name "Discord bot"
  server-listing key issue --user ada@example.com --name "Discord bot" > bot.key`,
    )
    .action(issue)

  key
    .command('list')
    .description("list a user's keys, revoked ones too, by their first 16 characters")
    .usage('--user <email> [--json]')
    .option('--user <email>', 'whose keys')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key list --user ada@example.com
  server-listing key list --user ada@example.com --json`,
    )
    .action(list)

  key
    .command('revoke')
    .description('revoke a key; it is refused from the moment this returns')
    .usage('--user <email> <key-id> | --key-stdin')
    .argument('[key-id]', 'the id that `key list` shows')
    .option('--user <email>', 'whose key it is')
    .option(
      '--key-stdin',
      'read a leaked key from standard input instead, and revoke it whoever owns it',
    )
    .addHelpText(
      'after',
      `
Examples:
  server-listing key revoke --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10
  server-listing key revoke --key-stdin < leaked.txt`,
    )
    .action(revoke)
}

async function issue(options: { user?: string; name?: string }): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const name = needOption(options.name, '--name <name>')
  const issued = await withStore(async (store) => {
    const user = await findUser(store, email)
    return issueApiKey(store, user.id, name, presentInstant())
  })
  if ('refused' in issued) throw new Failure(`no key was issued to ${email}: ${issued.refused}`)
  print(issued.key)
  say(
    `issued ${issued.apiKey.id} to ${email}; the key is shown this once and cannot be shown again`,
  )
}

async function list(options: { user?: string; json?: boolean }): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const apiKeys = await withStore(async (store) => {
    const user = await findUser(store, email)
    return store.listApiKeys(user.id)
  })
  if (options.json) printJson(apiKeys.map(toJson))
  else
    printTable(
      ['ID', 'NAME', 'PREFIX', 'ISSUED', 'LAST USED', 'STATE'],
      apiKeys.map((apiKey) => [
        apiKey.id,
        apiKey.name,
        `${apiKey.prefix}…`,
        shortInstant(apiKey.created_at, ''),
        shortInstant(apiKey.last_used_at, 'never'),
        apiKey.revoked_at === null ? 'active' : `revoked ${shortInstant(apiKey.revoked_at, '')}`,
      ]),
    )
}

function toJson(apiKey: ApiKey): object {
  return {
    ...apiKey,
    created_at: formatInstant(apiKey.created_at),
    revoked_at: apiKey.revoked_at === null ? null : formatInstant(apiKey.revoked_at),
    last_used_at: apiKey.last_used_at === null ? null : formatInstant(apiKey.last_used_at),
  }
}

interface RevokeOptions {
  user?: string
  keyStdin?: boolean
}

async function revoke(keyId: string | undefined, options: RevokeOptions): Promise<void> {
  const now = presentInstant()
  const revoked = options.keyStdin
    ? await revokeLeaked(keyId, options, now)
    : await revokeById(keyId, options, now)
  const named = `${revoked.id} (${revoked.prefix}…)`
  if (revoked.revoked_at === now) say(`revoked ${named}`)
  else say(`${named} was revoked already, at ${shortInstant(revoked.revoked_at, '')}`)
}

async function revokeById(
  keyId: string | undefined,
  options: RevokeOptions,
  now: number,
): Promise<ApiKey> {
  // Not repeated, as it may be a key. It has been seen by now: by the shell's history and by whoever lists processes.
  if (keyId?.startsWith(FIXED_PREFIX))
    throw new Misuse(
      'what was given is a key, not the id of one; a key is read from standard input only: --key-stdin',
    )
  const email = needOption(options.user, '--user <email>')
  if (keyId === undefined)
    throw new Misuse(
      `<key-id> is missing, which \`server-listing key list --user ${email}\` shows; a whole key is read by --key-stdin\n${HELP_HINT}`,
    )
  const revoked = await withStore(async (store) => {
    const user = await findUser(store, email)
    return store.revokeApiKey(user.id, keyId, now)
  })
  if (revoked !== null) return revoked
  throw new Failure(
    `${email} has no key with the id ${quote(keyId)}; \`server-listing key list --user ${email}\` shows the ids`,
  )
}

async function revokeLeaked(
  keyId: string | undefined,
  options: RevokeOptions,
  now: number,
): Promise<ApiKey> {
  if (keyId !== undefined || options.user !== undefined)
    throw new Misuse('--key-stdin names the key by itself; leave out --user and the id')
  const key = (await readInput('-')).trim()
  if (key === '') throw new Misuse('--key-stdin found no key on standard input')
  const revoked = await withStore((store) => store.revokeApiKeyByHash(hashApiKey(key), now))
  // The string may be a key of somebody else's service: it is not repeated.
  if (revoked === null) throw new Failure('what standard input held is no key of this service')
  return revoked
}
