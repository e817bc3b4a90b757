import type { Command } from 'commander'
import { count, countOf, quote } from '../../model/text.ts'
import { complaintAboutPassword } from '../passwords.ts'
import { formatInstant, presentInstant, formatNullable } from '../../model/instant.ts'
import { createUser, nameOf } from '../user.ts'
import { confirm, YES } from '../../terminal/confirm.ts'
import { changeStore, loadConfig, withStore } from '../../terminal/context.ts'
import {
  addUserCommand,
  changeUser,
  findUser,
  needUser,
  readEmail,
  readExternalId,
  sayAccess,
  type UserOptions,
  userJson,
} from './named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { readInput } from '../../terminal/input.ts'
import { addChangeCommands } from './change-user.ts'
import { addLinkCommand } from './link-user.ts'
import { addIdentitiesCommand } from './move-identities.ts'
import { print, printJson, printTable, say, shortInstant } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { users } from '../records/users.ts'
import { passwords } from '../records/passwords.ts'
import { inventory } from '../../directory/records/inventory.ts'
import { operatorAt } from '../../model/audit.ts'
import { removeUser } from '../../directory/records/removed-user.ts'

export function addUserCommands(program: Command, shell: Shell): void {
  const user = program
    .command('user')
    .description('add, list, disable and remove users, and help them to sign in')
    .addHelpText(
      'after',
      `
Examples:
  server-listing user add ada@example.com
  server-listing user password ada@example.com < password.txt
  server-listing user list --json
  server-listing user remove ada@example.com`,
    )

  addAddCommand(user, shell)
  addUserCommand(
    user,
    'password',
    'set the password from standard input, and end every session of the user',
  )
    .addHelpText(
      'after',
      '\nExample:\n  server-listing user password ada@example.com < password.txt',
    )
    .action((email, options) => password(shell, email, options))

  addLinkCommand(user, shell)
  addChangeCommands(user, shell)
  addIdentitiesCommand(user, shell)

  user
    .command('list')
    .description('list all users: who can sign in, and what each has')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  server-listing user list\n  server-listing user list --json',
    )
    .action((options) => list(shell, options))

  addUserCommand(
    user,
    'remove',
    'remove a user with all keys and servers; organizations with other members keep theirs',
  )
    .option(...YES)
    .addHelpText(
      'after',
      `
On a terminal, the command says how much would go, and asks. Elsewhere it needs --yes. The keys are
revoked: a restore brings the user back, but no key. To end access for a time, use \`user disable\`.

Example:
  server-listing user remove ada@example.com --yes`,
    )
    .action((email, options) => remove(shell, email, options))
}

function addAddCommand(user: Command, shell: Shell): void {
  user
    .command('add')
    .description("add a user and print the user's id")
    .argument('[email]', "the user's email address")
    .option(
      '--external-id <id>',
      'the id that your own site has for the user, beside an email address or alone',
    )
    .option('--password-stdin', 'read the password for the dashboard from standard input')
    .option('--json', 'print JSON')
    .option('--create', 'create the database if it is missing, and update its schema')
    .addHelpText(
      'after',
      `
Examples:
  server-listing user add ada@example.com
  server-listing user add --external-id 4711
  server-listing user add ada@example.com --password-stdin --create < password.txt`,
    )
    .action((email, options) => add(shell, email, options))
}

interface AddOptions {
  externalId?: string
  passwordStdin?: boolean
  create?: boolean
  json?: boolean
}

async function add(shell: Shell, email: string | undefined, options: AddOptions): Promise<void> {
  const { externalId, passwordStdin } = options
  const address = email === undefined ? null : readEmail(email)
  const external = externalId === undefined ? null : readExternalId(externalId)
  if (address === null && external === null) needUser(undefined, undefined, '<email>')
  if (address === null && passwordStdin)
    throw new Misuse('--password-stdin needs an <email>, with which the user signs in')
  const user = createUser(address, external)
  const name = nameOf(user)
  const hash = passwordStdin ? await readPasswordHash(shell, address) : null
  await changeStore(
    shell,
    async (store) => {
      const added =
        hash === null || address === null
          ? await users(store.database).insertUser(user, operatorAt(presentInstant()))
          : await passwords(store.database).insertUserWithPassword(
              { ...user, email: address },
              hash,
              'user added',
              operatorAt(presentInstant()),
            )
      if (!added) {
        const isEmail = address !== null && (await users(store.database).findUser(address)) !== null
        const taken = isEmail ? 'email address' : `external id ${quote(external)}`
        throw new Failure(`cannot add ${name}: a user with this ${taken} already exists`)
      }
      if (options.json) printJson(shell, userJson(user))
      else print(shell, user.id)
      const told = options.json ? '' : "; the line on standard output is the user's id"
      say(shell, `added ${name}${told}`)
    },
    { create: options.create === true },
  )
}

async function password(
  shell: Shell,
  email: string | undefined,
  options: UserOptions,
): Promise<void> {
  const reference = needUser(email, options.externalId, '<email>')
  const hash = await readPasswordHash(shell, 'email' in reference ? reference.email : null)
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    if (user.email === null)
      throw new Failure(
        `no password was set: ${nameOf(user)} has no email address to sign in with. ` +
          '`server-listing user email` sets one',
      )
    await passwords(store.database).setPassword(user.id, hash, operatorAt(presentInstant()))
    if (options.json) printJson(shell, userJson(user))
    say(shell, `set the password of ${user.email} and ended every session`)
  })
}

/**
 * Hashes the password on standard input, without its line end. The password itself does not leave
 * this function.
 */
async function readPasswordHash(shell: Shell, email: string | null): Promise<string> {
  // Such a password would only keep the user's account at the provider from being linked.
  if (!loadConfig(shell).passwords)
    throw new Misuse(
      'no password was set: PASSWORDS is off, so no user signs in with one. ' +
        '`server-listing user link` lets a user in',
    )
  const given = (await readInput(shell, '-')).replace(/\r?\n$/, '')
  const complaint = await complaintAboutPassword(given, email)
  if (complaint !== null) throw new Misuse(`the password on standard input must ${complaint}`)
  const { createPasswords } = await import('../sign-in/passwords.ts')
  return createPasswords().hash(given)
}

async function list(shell: Shell, options: { json?: boolean }): Promise<void> {
  const users = await withStore(shell, (store) => inventory(store.database).listUserRecords())
  if (options.json)
    printJson(
      shell,
      users.map((user) => ({
        ...user,
        created_at: formatInstant(user.created_at),
        disabled_at: formatNullable(user.disabled_at),
        banned_at: formatNullable(user.banned_at),
        last_sign_in_at: formatNullable(user.last_sign_in_at),
      })),
    )
  else
    printTable(
      shell,
      [
        'ID',
        'EMAIL',
        'EXTERNAL ID',
        'ADDED',
        'ACCESS',
        'CAN SIGN IN',
        'KEYS',
        'SERVERS',
        'LAST SIGN-IN',
      ],
      users.map((user) => [
        user.id,
        user.email ?? '-',
        user.external_id ?? '-',
        shortInstant(user.created_at, ''),
        sayAccess(user, 'yes'),
        user.can_sign_in ? 'yes' : 'no',
        count(user.api_keys),
        count(user.servers),
        shortInstant(user.last_sign_in_at, 'never'),
      ]),
    )
}

async function remove(
  shell: Shell,
  email: string | undefined,
  options: UserOptions & { yes?: boolean },
): Promise<void> {
  await changeUser(shell, email, options, async (store, user) => {
    const name = nameOf(user)
    const belongings = await inventory(store.database).countBelongings(user.id)
    const { api_keys, servers, kept_servers, organizations } = belongings
    const kept = kept_servers === 0 ? '' : `(keeping ${count(kept_servers)} in organizations) `
    const counts =
      `${countOf(api_keys, 'active key')}, ${countOf(servers, 'server')} ${kept}` +
      `and ${countOf(organizations, 'organization')}`
    const forGood = api_keys === 0 ? '' : ', and revoke the keys: no restore brings them back'
    await confirm(shell, `remove ${name} with ${counts} from ${store.place}${forGood}`, options)
    if (!(await removeUser(store.database, user.id, operatorAt(presentInstant()))))
      throw new Failure(`cannot remove ${name}: another process has just removed the user`)
    if (options.json) printJson(shell, userJson(user))
    say(shell, `removed ${name} with ${counts}`)
  })
}
