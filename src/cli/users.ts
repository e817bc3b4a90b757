import type { Command } from 'commander'
import { formatInstant } from '../listing/instant.ts'
import { createUser } from '../listing/user.ts'
import { readEmail, withStore } from './context.ts'
import { Failure } from './errors.ts'
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
  server-listing user list --json
  server-listing user remove ada@example.com`,
    )

  user
    .command('add')
    .description("add a user, and print the user's id")
    .argument('<email>', "the user's e-mail address")
    .addHelpText('after', '\nExample:\n  server-listing user add ada@example.com')
    .action(add)

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

async function add(email: string): Promise<void> {
  const user = createUser(readEmail(email))
  await withStore(
    async (store) => {
      if (!(await store.insertUser(user)))
        throw new Failure(
          `cannot add ${user.email}: there is a user with this e-mail address already`,
        )
    },
    { create: true },
  )
  print(user.id)
  say(`added ${user.email}; what was printed is the user's id, for other programs`)
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
