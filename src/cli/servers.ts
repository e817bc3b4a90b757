import type { Command } from 'commander'
import { formatInstant, presentInstant } from '../listing/instant.ts'
import { isOrganizationSlug } from '../listing/organization.ts'
import { inParts } from '../listing/parts.ts'
import { checkEntries, type ServerEntry } from '../listing/server-entry.ts'
import type { Saved, Store } from '../listing/store.ts'
import { quote } from '../listing/text.ts'
import { findUser, needOption, withStore } from './context.ts'
import { Failure, Misuse } from './errors.ts'
import { inputName, readInput } from './input.ts'
import { createProgress, printJson, printTable, say, shortInstant } from './output.ts'

export function addServerCommands(program: Command): void {
  const server = program
    .command('server')
    .description('the game servers that users registered')
    .addHelpText(
      'after',
      `
Examples:
  server-listing server import --user ada@example.com servers.json
  server-listing server list --user ada@example.com`,
    )

  server
    .command('import')
    .description('register servers from a JSON array, or change those the user has already')
    .argument('<file>', 'the file, or - for standard input')
    .usage('--user <email> [--organization <slug>] <file>')
    .option('--user <email>', 'whose servers they are')
    .option(
      '--organization <slug>',
      'register them under this organization, which the API never returns',
    )
    .addHelpText(
      'after',
      `
An entry has a name and an address, and may have slug, edition, status, version, listing_kind and updated_at. One
whose slug, else address, the user has already changes that server. The file is checked whole before any is written.

Examples:
  server-listing server import --user ada@example.com servers.json
  server-listing server import --user ada@example.com --organization red-stone servers.json
  echo '[{"name":"Survival","address":"play.example.com"}]' | server-listing server import --user ada@example.com -`,
    )
    .action(importServers)

  server
    .command('list')
    .description("list a user's servers, those under organizations too")
    .usage('--user <email> [--json]')
    .option('--user <email>', 'whose servers')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  server-listing server list --user ada@example.com
  server-listing server list --user ada@example.com --json`,
    )
    .action(list)
}

async function importServers(
  file: string,
  options: { user?: string; organization?: string },
): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const slug = options.organization
  if (slug !== undefined && !isOrganizationSlug(slug))
    throw new Misuse(
      `an organization's slug has lower-case letters, digits and single hyphens, such as red-stone: ${quote(slug)} does not fit`,
    )
  const entries = await readEntries(file)
  await withStore(async (store) => {
    const user = await findUser(store, email)
    const organizationId = slug === undefined ? null : await store.ensureOrganization(slug, user.id)
    const saved = await saveInParts(store, user.id, organizationId, entries)
    const place = slug === undefined ? email : `${email} under ${slug}`
    say(
      `imported ${count(entries.length)} ${entries.length === 1 ? 'server' : 'servers'} for ${place}: ${count(saved.added)} new, ${count(saved.updated)} updated`,
    )
  })
}

async function readEntries(file: string): Promise<ServerEntry[]> {
  const source = inputName(file)
  const text = await readInput(file)
  if (text.trim() === '')
    throw new Failure(`nothing was imported: ${source} is empty; a JSON array of servers is wanted`)
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new Failure(`nothing was imported: ${source} is not JSON: ${(error as Error).message}`)
  }
  const checked = checkEntries(list)
  if ('entries' in checked) return checked.entries
  throw new Failure(`nothing was imported from ${source}:\n  ${checked.complaints.join('\n  ')}`)
}

async function saveInParts(
  store: Store,
  userId: string,
  organizationId: string | null,
  entries: readonly ServerEntry[],
): Promise<Saved> {
  const progress = createProgress()
  const now = presentInstant()
  const total: Saved = { added: 0, updated: 0 }
  let done = 0
  await inParts(async (rows) => {
    const part = entries.slice(done, done + rows)
    try {
      const saved = await store.saveServers(userId, organizationId, part, now)
      total.added += saved.added
      total.updated += saved.updated
    } catch (error) {
      progress.clear()
      throw new Failure(
        `${count(done)} of ${count(entries.length)} servers are in, the rest is not: ${(error as Error).message}; the same import again completes it`,
      )
    }
    done += part.length
    progress.show(`${count(done)} of ${count(entries.length)} servers are in`)
    return part.length
  })
  progress.clear()
  return total
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

async function list(options: { user?: string; json?: boolean }): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const servers = await withStore(async (store) => {
    const user = await findUser(store, email)
    return store.listServers(user.id)
  })
  if (options.json)
    printJson(
      servers.map((server) => ({ ...server, updated_at: formatInstant(server.updated_at) })),
    )
  else
    printTable(
      ['ID', 'NAME', 'ADDRESS', 'EDITION', 'STATUS', 'ORGANIZATION', 'UPDATED'],
      servers.map((server) => [
        server.id,
        server.name,
        server.address,
        server.edition,
        server.status,
        server.organization ?? '-',
        shortInstant(server.updated_at, ''),
      ]),
    )
}
