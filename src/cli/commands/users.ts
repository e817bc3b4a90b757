import type { Command } from 'commander'
import { count, countOf } from '../../listing/text.ts'
import { complaintAboutPassword } from '../../listing/accounts/passwords.ts'
import { formatInstant, presentInstant } from '../../listing/instant.ts'
import { checkEmail, createUser } from '../../listing/accounts/user.ts'
import { audit } from '../audit.ts'
import { confirm, YES } from '../confirm.ts'
import { changeStore, findUser, readEmail, withStore } from '../context.ts'
import { Failure, Misuse } from '../errors.ts'
import { readInput } from '../input.ts'
import { formatNullable, userJson } from '../json.ts'
import { addLinkCommand } from './link-user.ts'
import { print, printJson, printTable, say, shortInstant } from '../output.ts'
import type { Shell } from '../shell.ts'

export function addUserCommands(program: Command, shell: Shell): void {
  const user = program
    .command('user')
    .description('add, list and remove users, and help them to sign in')
    .addHelpText(
      'after',
      `
Examples:
  server-listing user add ada@example.com
  server-listing user password ada@example.com < password.txt
  server-listing user list --json
  server-listing user remove ada@example.com`,
    )

  user
    .command('add')
    .description("add a user and print the user's id")
    .argument('<email>', "the user's email address")
    .option('--password-stdin', 'read the password for the dashboard from standard input')
    .option('--json', 'print JSON')
    .option('--create', 'create the database if it is missing, and update its schema')
    .addHelpText(
      'after',
      `
Examples:
  server-listing user add ada@example.com
  server-listing user add ada@example.com --password-stdin --create < password.txt`,
    )
    .action((email, options) => add(shell, email, options))

  user
    .command('password')
    .description('set the password from standard input, and end every session of the user')
    .argument('<email>', "the user's email address")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  server-listing user password ada@example.com < password.txt',
    )
    .action((email, options) => password(shell, email, options))

  addLinkCommand(user, shell)

  user
    .command('list')
    .description('list all users: who can sign in, and what each has')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  server-listing user list\n  server-listing user list --json',
    )
    .action((options) => list(shell, options))

  user
    .command('remove')
    .description('remove a user with all keys and all servers, also in organizations')
    .argument('<email>', "the user's email address")
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
On a terminal, the command says how much would go, and asks. Elsewhere it needs --yes.

Example:
  server-listing user remove ada@example.com --yes`,
    )
    .action((email, options) => remove(shell, email, options))
}

async function add(
  shell: Shell,
  email: string,
  options: { passwordStdin?: boolean; create?: boolean; json?: boolean },
): Promise<void> {
  const checked = checkEmail(email)
  if ('complaint' in checked) throw new Misuse(checked.complaint)
  const user = createUser(checked.email)
  const hash = options.passwordStdin ? await readPasswordHash(shell, user.email) : null
  await changeStore(
    shell,
    async (store) => {
      const added =
        hash === null
          ? await store.insertUser(user)
          : await store.insertUserWithPassword(user, hash)
      if (!added)
        throw new Failure(`cannot add ${user.email}: a user with this email address already exists`)
      await audit(shell, store, 'user added', user.id, user.email)
      if (options.json) printJson(shell, userJson(user))
      else print(shell, user.id)
      say(
        shell,
        `added ${user.email}` +
          (options.json ? '' : "; the line on standard output is the user's id"),
      )
    },
    { create: options.create === true },
  )
}

async function password(shell: Shell, email: string, options: { json?: boolean }): Promise<void> {
  const hash = await readPasswordHash(shell, readEmail(email))
  await changeStore(shell, async (store) => {
    const user = await findUser(store, email)
    await store.setPassword(user.id, hash, presentInstant())
    await audit(shell, store, 'password changed', user.id, user.email)
    if (options.json) printJson(shell, userJson(user))
    say(shell, `set the password of ${user.email} and ended every session`)
  })
}

/**
 * Hashes the password on standard input, without its line end. The password itself does not leave
 * this function.
 */
async function readPasswordHash(shell: Shell, email: string): Promise<string> {
  const given = (await readInput(shell, '-')).replace(/\r?\n$/, '')
  const complaint = complaintAboutPassword(given, email)
  if (complaint !== null) throw new Misuse(`the password on standard input must ${complaint}`)
  const { createPasswords } = await import('../../sign-in/passwords.ts')
  return createPasswords().hash(given)
}

async function list(shell: Shell, options: { json?: boolean }): Promise<void> {
  const users = await withStore(shell, (store) => store.listUserRecords())
  if (options.json)
    printJson(
      shell,
      users.map((user) => ({
        ...user,
        created_at: formatInstant(user.created_at),
        last_sign_in_at: formatNullable(user.last_sign_in_at),
      })),
    )
  else
    printTable(
      shell,
      ['ID', 'EMAIL', 'ADDED', 'CAN SIGN IN', 'KEYS', 'SERVERS', 'LAST SIGN-IN'],
      users.map((user) => [
        user.id,
        user.email,
        shortInstant(user.created_at, ''),
        user.can_sign_in ? 'yes' : 'no',
        count(user.api_keys),
        count(user.servers),
        shortInstant(user.last_sign_in_at, 'never'),
      ]),
    )
}

async function remove(
  shell: Shell,
  email: string,
  options: { yes?: boolean; json?: boolean },
): Promise<void> {
  const address = readEmail(email)
  await changeStore(shell, async (store) => {
    const user = await store.findUser(address)
    if (user === null) throw unknownUser(address, store.place)
    const belongings = await store.countBelongings(user.id)
    const { api_keys, servers, organization_servers, organizations } = belongings
    const inside =
      organization_servers === 0 ? '' : `(${count(organization_servers)} in organizations) `
    const counts =
      `${countOf(api_keys, 'active key')}, ${countOf(servers, 'server')} ${inside}` +
      `and ${countOf(organizations, 'organization')}`
    await confirm(shell, `remove ${address} with ${counts} from ${store.place}`, options)
    if (!(await store.removeUser(user.id))) throw unknownUser(address, store.place)
    await audit(shell, store, 'user removed', user.id, address)
    if (options.json) printJson(shell, userJson(user))
    say(shell, `removed ${address} with ${counts}`)
  })
}

function unknownUser(email: string, place: string): Failure {
  return new Failure(
    `cannot remove ${email}: there is no such user in ${place}. ` +
      '`server-listing user list` shows all users',
  )
}
