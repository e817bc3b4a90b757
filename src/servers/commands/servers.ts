import { type NamedUser, nameOf } from '../../accounts/user.ts'
import {
  type ServerRecord,
  OWNED_SERVERS_MAX,
  type OwnedServer,
  REGISTERED_MAX,
} from '../server.ts'
import { OPTIONAL_COLUMNS } from '../file/columns.ts'
import { formatInstant, presentInstant } from '../../model/instant.ts'
import type { Command } from 'commander'
import { operatorAt } from '../../model/audit.ts'
import { countOf, quote } from '../../model/text.ts'
import { confirm, YES } from '../../terminal/confirm.ts'
import { changeStore, withStore } from '../../terminal/context.ts'
import {
  EXTERNAL_ID,
  findUser,
  needUser,
  readUser,
  type UserReference,
  wordsFor,
} from '../../accounts/commands/named-user.ts'
import { Failure } from '../../terminal/errors.ts'
import {
  createJsonArray,
  createTable,
  printJson,
  say,
  shortInstant,
} from '../../terminal/output.ts'
import type { ImportOptions } from './import-servers.ts'
import type { Shell } from '../../terminal/shell.ts'
import { serverExports } from '../records/server-exports.ts'
import { serverImports } from '../records/server-imports.ts'

/** The servers that a question names. */
const NAMED_MAX = 5

export function addServerCommands(program: Command, shell: Shell): void {
  const server = program
    .command('server')
    .description('import, list and remove game servers')
    .addHelpText(
      'after',
      `
Examples:
  server-listing server import --user ada@example.com servers.json
  server-listing server list --user ada@example.com`,
    )

  server
    .command('import')
    .description('register or update servers from a JSON array or CSV')
    .argument('<file>', 'a JSON or CSV file, or - for standard input')
    .usage('--user <email> [--organization <slug>] [--prune | --prune-all] [--dry-run] <file>')
    .option('--user <email>', 'the email address of the owner')
    .option(...EXTERNAL_ID)
    .option(
      '--organization <slug>',
      'register the servers under this organization; the API never returns these',
    )
    .option('--prune', 'remove the servers there that the file does not have')
    .option('--prune-all', 'like --prune, even if that removes more than half of them')
    .option('--dry-run', 'only say what would change')
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each entry needs a name and an address.
Optional fields: ${OPTIONAL_COLUMNS.join(', ')}.
An entry changes the user's server with the same id, or else slug, or else address and edition. Any
other entry is a new server. The user can have ${REGISTERED_MAX} servers. The command checks the whole file before
it writes. CSV begins with a row of these names. The command also reads the dashboard's exports,
answers of the API and the output of server list --json. It ignores other fields and names them.
--prune removes the user's other personal servers or, with --organization, the user's other
servers under it.

Examples:
  server-listing server import --user ada@example.com servers.json
  server-listing server import --user ada@example.com --organization red-stone servers.json
  server-listing server import --user ada@example.com --prune --dry-run servers.json
  server-listing server import --user ada@example.com - < servers.json`,
    )
    .action(async (file: string, options: ImportOptions) => {
      // Loaded on demand: a list needs none of the rules of an import.
      const { importServers } = await import('./import-servers.ts')
      await importServers(shell, file, options)
    })

  addRemoveCommand(server, shell)
  addListCommand(server, shell)
}

interface ListOptions {
  user?: string
  externalId?: string
  json?: boolean
}

function addListCommand(server: Command, shell: Shell): void {
  server
    .command('list')
    .description('list the servers of all users, including those under organizations')
    .option('--user <email>', 'only servers of this user, newest first')
    .option(...EXTERNAL_ID)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The list of all users has the servers of each user together. It needs little memory: it reads and
prints ${OWNED_SERVERS_MAX} servers at a time.

Examples:
  server-listing server list --user ada@example.com
  server-listing server list --json`,
    )
    .action(async ({ user, externalId, json = false }: ListOptions) => {
      const reference = readUser(user, externalId, '--user <email>')
      if (reference === null) await listAll(shell, json)
      else await listOf(shell, reference, json)
    })
}

function addRemoveCommand(server: Command, shell: Shell): void {
  server
    .command('remove')
    .description("remove some of a user's servers")
    .argument('<server-id...>', 'ids of servers, from `server list`')
    .usage('--user <email> <server-id...>')
    .option('--user <email>', 'the email address of the owner')
    .option(...EXTERNAL_ID)
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
On a terminal, the command names the servers and asks. Elsewhere it needs --yes.

Example:
  server-listing server remove --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10`,
    )
    .action((ids, options) => remove(shell, ids, options))
}

const HEADS = ['NAME', 'ADDRESS', 'EDITION', 'STATUS', 'ORGANIZATION', 'UPDATED'] as const

const cellsOf = (server: ServerRecord) => [
  server.name,
  server.address,
  server.edition,
  server.status,
  server.organization ?? '-',
  shortInstant(server.updated_at, ''),
]

/** Prints each part before it reads the next one: all servers may not fit into memory. */
async function listOf(shell: Shell, reference: UserReference, json: boolean): Promise<void> {
  const list = json ? createJsonArray(shell) : createTable(shell, ['ID', ...HEADS])
  await withStore(shell, async (store) => {
    const user = await findUser(store, reference)
    await serverExports(store.database).readServers(user.id, 'all', (servers) =>
      list.add(
        servers.map((server) =>
          json ? serverJson(server, user) : [server.id, ...cellsOf(server)],
        ),
      ),
    )
  })
  list.end()
}

/** The same for the servers of all users. */
async function listAll(shell: Shell, json: boolean): Promise<void> {
  const table = createTable(shell, ['ID', 'USER', ...HEADS])
  const array = createJsonArray(shell)
  await withStore(shell, async (store) => {
    let last: OwnedServer | null = null
    do {
      const servers: OwnedServer[] = await serverExports(store.database).listOwnedServers(last)
      if (json)
        array.add(
          servers.map(({ created_by: id, email, external_id, ...server }) =>
            serverJson(server, { id, email, external_id }),
          ),
        )
      else
        table.add(
          servers.map((server) => [
            server.id,
            nameOf({ ...server, id: server.created_by }),
            ...cellsOf(server),
          ]),
        )
      last = servers.length < OWNED_SERVERS_MAX ? null : servers.at(-1)!
    } while (last !== null)
  })
  if (json) array.end()
  else table.end()
}

async function remove(
  shell: Shell,
  ids: readonly string[],
  options: ListOptions & { yes?: boolean },
): Promise<void> {
  const reference = needUser(options.user, options.externalId)
  await changeStore(shell, async (store) => {
    const user = await findUser(store, reference)
    const name = nameOf(user)
    const owned = await serverExports(store.database).listServers(user.id)
    const known = new Map(owned.map((server) => [server.id, server]))
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))]
    const unknown = wanted.find((id) => !known.has(id))
    if (unknown !== undefined)
      throw new Failure(
        `nothing was removed: ${name} has no server with the id ${quote(unknown)}. ` +
          `\`server-listing server list ${wordsFor(reference)}\` shows the ids`,
      )
    const servers = wanted.flatMap((id) => known.get(id) ?? [])
    const named = servers.map((server) => `${quote(server.name)} (${server.address})`)
    const shown = [...named.slice(0, NAMED_MAX), ...(named.length > NAMED_MAX ? ['…'] : [])]
    const counted = countOf(servers.length, 'server')
    await confirm(
      shell,
      `remove ${counted} of ${name} from ${store.place}: ${shown.join(', ')}`,
      options,
    )
    const removed = await serverImports(store.database).removeServers(
      user.id,
      servers.map(({ id }) => id),
      operatorAt(presentInstant()),
    )
    if (options.json)
      printJson(
        shell,
        servers.map((server) => serverJson(server, user)),
      )
    say(shell, `removed ${countOf(removed, 'server')} of ${name}`)
  })
}

/** A server, as `server list` and `server remove` print it. */
function serverJson(server: ServerRecord, owner: NamedUser): object {
  const updated_at = formatInstant(server.updated_at)
  const { id: created_by, email, external_id } = owner
  return { ...server, updated_at, created_by, email, external_id }
}
