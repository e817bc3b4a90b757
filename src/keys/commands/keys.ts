import type { Command } from 'commander'
import type { OwnedApiKey } from '../records/owned-api-keys.ts'
import { endsOf, nameOf } from '../../accounts/user.ts'
import { isUnused } from '../api-key.ts'
import { KEY_NAME_LENGTH_MAX } from '../../model/key-format.ts'
import { type Instant, presentInstant, formatNullable } from '../../model/instant.ts'
import { changeStore, needOption, withStore } from '../../terminal/context.ts'
import {
  EXTERNAL_ID,
  findUser,
  needUser,
  readUser,
  sayAccess,
} from '../../accounts/commands/named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { keyJson } from './key-json.ts'
import { print, printJson, printTable, say, shortInstant } from '../../terminal/output.ts'
import type { ChangeOptions } from './change-key.ts'
import type { Shell } from '../../terminal/shell.ts'
import { inventory } from '../../directory/records/inventory.ts'
import { operatorAt } from '../../model/audit.ts'

/** Returns the command that has them all. */
export function addKeyCommands(program: Command, shell: Shell): Command {
  const key = program
    .command('key')
    .description('issue, list, rename and revoke API keys')
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
    .option(...EXTERNAL_ID)
    .option('--name <name>', `the name of the key, 1 to ${KEY_NAME_LENGTH_MAX} characters`)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key issue --user ada@example.com --name "Discord bot"
  server-listing key issue --user ada@example.com --name "Discord bot" > bot.key`,
    )
    .action((options) => issue(shell, options))

  key
    .command('list')
    .description(
      'list the keys of all users, including revoked ones; shows the first 16 characters of each',
    )
    .option('--user <email>', 'only keys of this user')
    .option(...EXTERNAL_ID)
    .option('--unused-for <time>', 'only active keys without a request for that long, such as 90d')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key list --user ada@example.com
  server-listing key list --unused-for 90d --json`,
    )
    .action((options) => list(shell, options))
  addRenameCommand(key, shell)
  addRevokeCommand(key, shell)
  return key
}

function addRenameCommand(key: Command, shell: Shell): void {
  key
    .command('rename')
    .description('rename an active key; programs that use it notice nothing')
    .usage('--user <email> --name <name> <key-id>')
    .argument('<key-id>', 'the id of the key, from `key list`')
    .option('--user <email>', 'the email address of the owner')
    .option(...EXTERNAL_ID)
    .option('--name <name>', `the new name, 1 to ${KEY_NAME_LENGTH_MAX} characters`)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Example:
  server-listing key rename --user ada@example.com --name "Status page" 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10`,
    )
    .action(async (keyId: string, options: ChangeOptions) => {
      // Loaded on demand, as for the other rare commands of the group.
      const { rename } = await import('./change-key.ts')
      await rename(shell, keyId, options)
    })
}

function addRevokeCommand(key: Command, shell: Shell): void {
  key
    .command('revoke')
    .description('revoke a key; it stops working before this command returns')
    .usage('--user <email> <key-id> | --key-stdin')
    .argument('[key-id]', 'the id of the key, from `key list`')
    .option('--user <email>', 'the email address of the owner')
    .option(...EXTERNAL_ID)
    .option('--key-stdin', 'read text from standard input and revoke every key in it, of all users')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  server-listing key revoke --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10
  server-listing key revoke --key-stdin < leaked.txt

With --key-stdin, the exit code is 0 if the text contains at least one API key of this service.`,
    )
    .action(async (keyId: string | undefined, options: ChangeOptions) => {
      // Loaded on demand: other commands of the group do not read leaked keys.
      const { revoke } = await import('./change-key.ts')
      await revoke(shell, keyId, options)
    })
}

async function issue(
  shell: Shell,
  options: { user?: string; externalId?: string; name?: string; json?: boolean },
): Promise<void> {
  const reference = needUser(options.user, options.externalId)
  const name = needOption(options.name, '--name <name>')
  // Loaded on demand, with Node's cryptography: only this command makes a key.
  const { issueApiKey } = await import('../records/issued-keys.ts')
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    const actor = operatorAt(presentInstant())
    const issued = await issueApiKey(store.database, user.id, name, actor)
    if ('refused' in issued) {
      const Problem = issued.because === 'name' ? Misuse : Failure
      throw new Problem(`no key was issued to ${nameOf(user)}: ${issued.refused}`)
    }
    const { id } = issued.apiKey
    if (options.json) printJson(shell, { ...keyJson(issued.apiKey), key: issued.key })
    else print(shell, issued.key)
    const ends = endsOf(user).map(({ words }) => words)
    const refused =
      ends.length === 0 ? '' : `. It gets a 401 while the user is ${ends.join(' and ')}`
    say(
      shell,
      `issued ${id} to ${nameOf(user)}; save the key now, because it cannot be shown again` +
        refused,
    )
  })
}

interface ListOptions {
  user?: string
  externalId?: string
  unusedFor?: string
  json?: boolean
}

async function list(shell: Shell, options: ListOptions): Promise<void> {
  const { unusedFor } = options
  const reference = readUser(options.user, options.externalId, '--user <email>')
  const before = unusedFor === undefined ? null : await readBefore(unusedFor)
  const apiKeys = await withStore(shell, async (store) =>
    inventory(store.database).listOwnedApiKeys(
      reference === null ? undefined : (await findUser(store, reference)).id,
    ),
  )
  const listed = before === null ? apiKeys : apiKeys.filter((one) => isUnused(one, before))
  if (options.json)
    printJson(
      shell,
      listed.map((one) => ({
        ...keyJson(one),
        email: one.email,
        external_id: one.external_id,
        disabled_at: formatNullable(one.disabled_at),
        banned_at: formatNullable(one.banned_at),
      })),
    )
  else
    printTable(
      shell,
      ['ID', ...(reference === null ? ['USER'] : []), ...HEADS],
      listed.map((one) => [
        one.id,
        ...(reference === null ? [nameOf({ ...one, id: one.user_id })] : []),
        one.name,
        `${one.prefix}…`,
        shortInstant(one.created_at, ''),
        shortInstant(one.last_used_at, 'never'),
        stateOf(one),
      ]),
    )
}

const HEADS = ['NAME', 'PREFIX', 'ISSUED', 'LAST USED', 'STATE'] as const

/** A key whose owner has no access works again when the owner has it. */
function stateOf(apiKey: OwnedApiKey): string {
  const { revoked_at } = apiKey
  return revoked_at === null
    ? sayAccess(apiKey, 'active')
    : `revoked ${shortInstant(revoked_at, '')}`
}

async function readBefore(unusedFor: string): Promise<Instant> {
  const { readSpan } = await import('../../terminal/spans.ts')
  return presentInstant() - readSpan(unusedFor, '--unused-for')
}
