import type { Command } from 'commander'
import type { ApiKey } from '../../listing/api-key.ts'
import { KEY_NAME_LENGTH_MAX } from '../../listing/key-format.ts'
import { formatInstant, presentInstant } from '../../listing/instant.ts'
import { audit } from '../audit.ts'
import { changeStore, findUser, needOption, withStore } from '../context.ts'
import { Failure } from '../errors.ts'
import { print, printJson, printTable, say, shortInstant } from '../output.ts'
import type { RevokeOptions } from './revoke-key.ts'

export function addKeyCommands(program: Command): void {
  const key = program
    .command('key')
    .description('issue, list and revoke API keys')
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
    .description('issue a key and print it; it cannot be shown again')
    .usage('--user <email> --name <name>')
    .option('--user <email>', 'the email address of the owner')
    .option('--name <name>', `the name of the key, 1 to ${KEY_NAME_LENGTH_MAX} characters`)
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
    .description(
      "list a user's keys, including revoked ones; shows the first 16 characters of each",
    )
    .usage('--user <email> [--json]')
    .option('--user <email>', 'the email address of the owner')
    .option('--json', 'print JSON')
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
    .description('revoke a key; it stops working before this command returns')
    .usage('--user <email> <key-id> | --key-stdin')
    .argument('[key-id]', 'the id of the key, from `key list`')
    .option('--user <email>', 'the email address of the owner')
    .option('--key-stdin', 'read text from standard input and revoke every key in it, of all users')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key revoke --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10
  server-listing key revoke --key-stdin < leaked.txt

With --key-stdin, the exit code is 0 if the text contains at least one API key of this service.`,
    )
    .action(async (keyId: string | undefined, options: RevokeOptions) => {
      // Loaded on demand: other commands of the group do not read leaked keys.
      const { revoke } = await import('./revoke-key.ts')
      await revoke(keyId, options)
    })
}

async function issue(options: { user?: string; name?: string }): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const name = needOption(options.name, '--name <name>')
  // Loaded on demand, with Node's cryptography: only this command makes a key.
  const { issueApiKey } = await import('../../listing/manage-api-keys.ts')
  await changeStore(async (store) => {
    const user = await findUser(store, email)
    const issued = await issueApiKey(store, user.id, name, presentInstant())
    if ('refused' in issued) throw new Failure(`no key was issued to ${email}: ${issued.refused}`)
    const { id } = issued.apiKey
    await audit(store, 'key issued', user.id, id)
    print(issued.key)
    say(`issued ${id} to ${email}; save the key now, because it cannot be shown again`)
  })
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
