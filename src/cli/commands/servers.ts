import type { Command } from 'commander'
import { formatInstant, presentInstant } from '../../listing/instant.ts'
import { isOrganizationSlug } from '../../listing/organization.ts'
import { inBatches } from '../../transfer/batches.ts'
import { readServers } from '../../listing/servers/file/server-file.ts'
import type { ServerEntry } from '../../listing/servers/server-entry.ts'
import type { Saved, ServerImportStore } from '../../listing/servers/server-import.ts'
import type { Store } from '../../listing/store.ts'
import { quote } from '../../listing/text.ts'
import { changeStore, findUser, needOption, withStore } from '../context.ts'
import { Failure, Misuse } from '../errors.ts'
import { inputName, readInput } from '../input.ts'
import { count, createProgress, printJson, printTable, say, shortInstant } from '../output.ts'

/** The maximum of mistakes that a failed import lists. */
const COMPLAINTS_MAX = 10

export function addServerCommands(program: Command): void {
  const server = program
    .command('server')
    .description('import and list game servers')
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
    .usage('--user <email> [--organization <slug>] <file>')
    .option('--user <email>', 'the email address of the owner')
    .option(
      '--organization <slug>',
      'register the servers under this organization; the API never returns these',
    )
    .addHelpText(
      'after',
      `
Each entry needs a name and an address. Optional fields: slug, edition, status, version,
listing_kind, updated_at. If the user already has a server with the same slug (or, without a slug,
the same address), the entry updates it. The command checks the whole file before it writes.
CSV begins with a row of these names. The dashboard exports both forms.

Examples:
  server-listing server import --user ada@example.com servers.json
  server-listing server import --user ada@example.com --organization red-stone servers.json
  server-listing server import --user ada@example.com - < servers.json`,
    )
    .action(importServers)

  server
    .command('list')
    .description("list a user's servers, including those under organizations")
    .usage('--user <email> [--json]')
    .option('--user <email>', 'the email address of the owner')
    .option('--json', 'print JSON')
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
      '--organization can contain only lowercase letters, digits and single hyphens, such as ' +
        `red-stone, not ${quote(slug)}`,
    )
  const entries = await readEntries(file)
  await changeStore(async (store) => {
    const user = await findUser(store, email)
    const organizationId = slug === undefined ? null : await store.ensureOrganization(slug, user.id)
    const saved = await saveInBatches(store, user.id, organizationId, entries)
    const place = slug === undefined ? email : `${email} under ${slug}`
    say(
      `imported ${count(entries.length)} ${entries.length === 1 ? 'server' : 'servers'} for ` +
        `${place}: ${count(saved.added)} new, ${count(saved.updated)} updated`,
    )
  })
}

async function readEntries(file: string): Promise<ServerEntry[]> {
  const source = inputName(file)
  const text = await readInput(file)
  const read = readServers(text)
  if ('complaint' in read) throw new Failure(`nothing was imported: ${source} ${read.complaint}`)
  const { entries, wrong } = read
  if (wrong.length === 0) return entries
  const complaints = wrong.map(({ place, message }) => `${place}: ${message}`)
  const more = complaints.length - COMPLAINTS_MAX
  const listed = [
    ...complaints.slice(0, COMPLAINTS_MAX),
    ...(more > 0 ? [`and ${count(more)} more`] : []),
  ]
  throw new Failure(`nothing was imported from ${source}:\n  ${listed.join('\n  ')}`)
}

async function saveInBatches(
  store: ServerImportStore & Pick<Store, 'isServed'>,
  userId: string,
  organizationId: string | null,
  entries: readonly ServerEntry[],
): Promise<Saved> {
  const progress = createProgress()
  const now = presentInstant()
  const total: Saved = { added: 0, updated: 0 }
  let done = 0
  await inBatches(async (rows) => {
    const batch = entries.slice(done, done + rows)
    try {
      const saved = await store.saveServers(userId, organizationId, batch, now)
      total.added += saved.added
      total.updated += saved.updated
    } catch (error) {
      progress.clear()
      throw new Failure(
        `imported ${count(done)} of ${count(entries.length)} servers, then failed: ` +
          `${(error as Error).message}. Run the same import again to finish`,
      )
    }
    done += batch.length
    progress.show(`imported ${count(done)} of ${count(entries.length)} servers`)
    return batch.length
  }, store.isServed)
  progress.clear()
  return total
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
