import type { Command } from 'commander'
import { complaintAboutPassword } from '../listing/accounts.ts'
import { formatInstant, presentInstant } from '../listing/instant.ts'
import { createUser } from '../listing/user.ts'
import { findUser, readEmail, withStore } from './context.ts'
import { Failure, Misuse } from './errors.ts'
import { readInput } from './input.ts'
import { print, printJson, printTable, say, shortInstant } from './output.ts'

export function addUserCommands(program: Command): void {
  const user = program
    .command('user')
    .description('the people who register servers and own keys')
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
    .description("add a user, and print the user's id")
    .argument('<email>', "the user's e-mail address")
    .option(
      '--password-stdin',
      'read a password from standard input, to sign in to the dashboard with',
    )
    .addHelpText(
      'after',
      `
Examples:
  server-listing user add ada@example.com
  server-listing user add ada@example.com --password-stdin < password.txt`,
    )
    .action(add)

  user
    .command('password')
    .description('set the password that standard input has; every session of the user ends')
    .argument('<email>', "the user's e-mail address")
    .addHelpText(
      'after',
      '\nExample:\n  server-listing user password ada@example.com < password.txt',
    )
    .action(password)

  user
    .command('list')
    .description('list all users')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  server-listing user list\n  server-listing user list --json',
    )
    .action(list)

  user
    .command('remove')
    .description('remove a user with all their keys and servers; the keys are refused at once')
    .argument('<email>', "the user's e-mail address")
    .addHelpText('after', '\nExample:\n  server-listing user remove ada@example.com')
    .action(remove)
}

async function add(email: string, options: { passwordStdin?: boolean }): Promise<void> {
  const user = createUser(readEmail(email))
  const hash = options.passwordStdin ? await readPasswordHash(user.email) : null
  await withStore(
    async (store) => {
      const added =
        hash === null
          ? await store.insertUser(user)
          : await store.insertUserWithPassword(user, hash)
      if (!added)
        throw new Failure(
          `cannot add ${user.email}: there is a user with this e-mail address already`,
        )
    },
    { create: true },
  )
  print(user.id)
  say(`added ${user.email}; what was printed is the user's id, for other programs`)
}

async function password(email: string): Promise<void> {
  const hash = await readPasswordHash(readEmail(email))
  await withStore(async (store) => {
    const user = await findUser(store, email)
    await store.setPassword(user.id, hash, presentInstant())
  })
  say(`set the password of ${readEmail(email)}, and ended every session`)
}

/** A password from standard input, without the end of its line; only what is stored of it leaves here. */
async function readPasswordHash(email: string): Promise<string> {
  const given = (await readInput('-')).replace(/\r?\n$/, '')
  const complaint = complaintAboutPassword(given, email)
  if (complaint !== null) throw new Misuse(`the password on standard input must ${complaint}`)
  const { createPasswords } = await import('../accounts/passwords.ts')
  return createPasswords().hash(given)
}

async function list(options: { json?: boolean }): Promise<void> {
  const users = await withStore((store) => store.listUsers())
  if (options.json)
    printJson(users.map((user) => ({ ...user, created_at: formatInstant(user.created_at) })))
  else
    printTable(
      ['ID', 'E-MAIL', 'ADDED'],
      users.map(({ id, email, created_at }) => [id, email, shortInstant(created_at, '')]),
    )
}

async function remove(email: string): Promise<void> {
  const address = readEmail(email)
  const removed = await withStore((store) => store.removeUser(address))
  if (!removed)
    throw new Failure(
      `cannot remove ${address}: there is no such user; \`server-listing user list\` shows all`,
    )
  say(`removed ${address}`)
}
