import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { formatInstant, presentInstant } from '../listing/instant.ts'
import { checkEntries, type ServerEntry } from '../listing/server-entry.ts'
import type { Saved, Store } from '../listing/store.ts'
import { findUser, withStore } from './context.ts'
import { Failure, Misuse } from './errors.ts'
import { readInput } from './input.ts'
import { createProgress, printJson, printTable, say, shortInstant } from './output.ts'

/** Entries written in one transaction. */
const IMPORT_PART = 10_000
/** Rest between two parts, in which a serving process gets the lock it retries every few milliseconds. */
const IMPORT_REST_MS = 25

export function addServerCommands(program: Command): void {
  const server = program.command('server').description('the game servers that users registered')

  server
    .command('import')
    .description('register servers from a JSON array, or change those the user has already')
    .argument('<file>', 'the file, or - for standard input')
    .requiredOption('--user <email>', 'whose servers they are')
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
  echo '[{"name":"Survival","address":"play.example.com"}]' | server-listing server import --user ada@example.com -`,
    )
    .action(importServers)

  server
    .command('list')
    .description("list a user's servers, those under organizations too")
    .requiredOption('--user <email>', 'whose servers')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  server-listing server list --user ada@example.com --json')
    .action(list)
}

async function importServers(
  file: string,
  options: { user: string; organization?: string },
): Promise<void> {
  const slug = options.organization
  if (slug !== undefined && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug))
    throw new Misuse(
      `an organization's slug has lower-case letters, digits and single hyphens, such as red-stone: ${JSON.stringify(slug)}`,
    )
  const entries = await readEntries(file)
  await withStore(async (store) => {
    const user = await findUser(store, options.user)
    const organizationId = slug === undefined ? null : await store.ensureOrganization(slug)
    const saved = await saveInParts(store, user.id, organizationId, entries)
    const place = slug === undefined ? options.user : `${options.user} under ${slug}`
    say(
      `imported ${count(entries.length)} servers for ${place}: ${count(saved.added)} new, ${count(saved.updated)} updated`,
    )
  })
}

async function readEntries(file: string): Promise<ServerEntry[]> {
  const source = file === '-' ? 'standard input' : file
  let list: unknown
  try {
    list = JSON.parse(await readInput(file))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Failure(`${source} is not JSON: ${error.message}`)
    throw error
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
  for (let start = 0; start < entries.length; start += IMPORT_PART) {
    if (start > 0) await delay(IMPORT_REST_MS)
    try {
      const part = entries.slice(start, start + IMPORT_PART)
      const saved = await store.saveServers(userId, organizationId, part, now)
      total.added += saved.added
      total.updated += saved.updated
      progress.show(`${count(start + part.length)} of ${count(entries.length)} servers are in`)
    } catch (error) {
      progress.clear()
      throw new Failure(
        `${count(start)} of ${count(entries.length)} servers are in, the rest is not: ${(error as Error).message}; the same import again completes it`,
      )
    }
  }
  progress.clear()
  return total
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

async function list(options: { user: string; json?: boolean }): Promise<void> {
  const servers = await withStore(async (store) => {
    const user = await findUser(store, options.user)
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
