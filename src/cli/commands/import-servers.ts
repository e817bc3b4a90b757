import { presentInstant } from '../../listing/instant.ts'
import { isOrganizationSlug } from '../../listing/organization.ts'
import { readServers } from '../../listing/servers/file/server-file.ts'
import type { ServerEntry } from '../../listing/servers/server-entry.ts'
import type {
  ImportOutcome,
  Saved,
  ServerImportStore,
} from '../../listing/servers/server-import.ts'
import type { Store } from '../../listing/store.ts'
import { count, countOf, quote } from '../../listing/text.ts'
import { inBatches } from '../../transfer/batches.ts'
import { confirm } from '../confirm.ts'
import { changeStore, type CommandStore, findUser, needOption, withStore } from '../context.ts'
import { Failure, Misuse } from '../errors.ts'
import { inputName, readInput } from '../input.ts'
import { createProgress, printJson, say } from '../output.ts'
import type { Shell } from '../shell.ts'

/** The maximum of mistakes that a failed import lists. */
const COMPLAINTS_MAX = 10

export interface ImportOptions {
  user?: string
  organization?: string
  prune?: boolean
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

/** Where an import goes. */
interface Place {
  userId: string
  /** Null for personal servers. */
  slug: string | null
  /** In messages. */
  name: string
}

export async function importServers(
  shell: Shell,
  file: string,
  options: ImportOptions,
): Promise<void> {
  const email = needOption(options.user, '--user <email>')
  const slug = options.organization ?? null
  if (slug !== null && !isOrganizationSlug(slug))
    throw new Misuse(
      '--organization can contain only lowercase letters, digits and single hyphens, such as ' +
        `red-stone, not ${quote(slug)}`,
    )
  const entries = await readEntries(shell, file)
  const run = options.dryRun ? withStore : changeStore
  await run(shell, async (store) => {
    const { id: userId } = await findUser(store, email)
    const place = { userId, slug, name: slug === null ? email : `${email} under ${slug}` }
    await (options.dryRun ? preview : save)(shell, store, place, entries, options)
  })
}

/** Says what the import would do. Changes nothing. */
async function preview(
  shell: Shell,
  store: CommandStore,
  place: Place,
  entries: readonly ServerEntry[],
  { prune = false, json = false }: ImportOptions,
): Promise<void> {
  const { added, updated, absent } = await compare(store, place, entries)
  const removed = prune ? absent.length : 0
  if (json) printJson(shell, { added, updated, removed })
  say(
    shell,
    `nothing was imported: for ${place.name} in ${store.place}, this would be ${count(added)} ` +
      `new, ${count(updated)} updated, ${count(removed)} removed`,
  )
}

async function save(
  shell: Shell,
  store: CommandStore,
  place: Place,
  entries: readonly ServerEntry[],
  options: ImportOptions,
): Promise<void> {
  const { userId, slug, name } = place
  const before = options.prune ? (await compare(store, place, entries)).absent : []
  if (before.length > 0)
    await confirm(
      shell,
      `remove ${countOf(before.length, 'server')} of ${name} from ${store.place} that are not ` +
        'in the import',
      options,
    )
  const organizationId = slug === null ? null : await store.ensureOrganization(slug, userId)
  const saved = await saveInBatches(shell, store, userId, organizationId, entries)
  const removed = before.length === 0 ? 0 : await prune(store, place, entries, before)
  if (options.json) printJson(shell, { ...saved, removed })
  say(
    shell,
    `imported ${countOf(entries.length, 'server')} for ${name}: ${count(saved.added)} new, ` +
      `${count(saved.updated)} updated${options.prune ? `, ${count(removed)} removed` : ''}`,
  )
}

/** Removes the servers that were confirmed, unless an entry means them by now. */
async function prune(
  store: CommandStore,
  place: Place,
  entries: readonly ServerEntry[],
  confirmed: readonly string[],
): Promise<number> {
  const absent = new Set((await compare(store, place, entries)).absent)
  const ids = confirmed.filter((id) => absent.has(id))
  let removed = 0
  await inBatches(async (rows) => {
    const batch = ids.splice(0, rows)
    removed += await store.removeServers(place.userId, batch)
    return batch.length
  }, store.isServed)
  return removed
}

async function compare(
  store: CommandStore,
  { userId, slug }: Place,
  entries: readonly ServerEntry[],
): Promise<ImportOutcome> {
  if (slug === null) return store.previewServers(userId, null, entries)
  const organizations = await store.listOrganizationRecords()
  const organization = organizations.find((one) => one.slug === slug)
  // An import creates a missing organization.
  if (organization === undefined) return { added: entries.length, updated: 0, absent: [] }
  return store.previewServers(userId, organization.id, entries)
}

async function readEntries(shell: Shell, file: string): Promise<ServerEntry[]> {
  const source = inputName(file)
  const text = await readInput(shell, file)
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
  shell: Shell,
  store: ServerImportStore & Pick<Store, 'isServed'>,
  userId: string,
  organizationId: string | null,
  entries: readonly ServerEntry[],
): Promise<Saved> {
  const progress = createProgress(shell)
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
