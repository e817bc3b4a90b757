import { type Actor, inParts, operatorAt } from '../../model/audit.ts'
import { nameOf } from '../../accounts/user.ts'
import { presentInstant } from '../../model/instant.ts'
import { isOrganizationSlug } from '../../organizations/organization.ts'
import { type ImportCounts, type PreviewedImport, sayCounts } from '../server-import.ts'
import { SERVERS_MAX } from '../../model/server-row.ts'
import { count, countOf, quote } from '../../model/text.ts'
import { endParts } from '../../accounts/records/audit.ts'
import { inBatches } from '../../database/batches.ts'
import { confirm } from '../../terminal/confirm.ts'
import { changeStore, type CommandStore, withStore } from '../../terminal/context.ts'
import { findUser, needUser } from '../../accounts/commands/named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say } from '../../terminal/output.ts'
import { saveInBatches } from './saved-parts.ts'
import { type ReadFile, readFile, sayWrong } from './server-file.ts'
import type { Shell } from '../../terminal/shell.ts'
import { organizations } from '../../organizations/records/organizations.ts'
import { serverImports } from '../records/server-imports.ts'
import { inventory } from '../../directory/records/inventory.ts'

export interface ImportOptions {
  user?: string
  externalId?: string
  organization?: string
  prune?: boolean
  pruneAll?: boolean
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
  const reference = needUser(options.user, options.externalId)
  const slug = options.organization ?? null
  if (slug !== null && !isOrganizationSlug(slug))
    throw new Misuse(
      '--organization can contain only lowercase letters, digits and single hyphens, such as ' +
        `red-stone, not ${quote(slug)}`,
    )
  const read = await readFile(shell, file, slug)
  if (read.isFullAnswer && (options.prune || options.pruneAll))
    throw new Misuse(
      `nothing was changed: ${read.source} is an answer of the API with ${SERVERS_MAX} servers, the ` +
        'maximum, and --prune would remove all others. Import it without --prune, or use the ' +
        'output of `server-listing server list --user EMAIL --json`',
    )
  const run = options.dryRun ? withStore : changeStore
  await run(shell, async (store) => {
    const user = await findUser(store, reference)
    const under = slug === null ? '' : ` under ${slug}`
    const place = { userId: user.id, slug, name: `${nameOf(user)}${under}` }
    const before = await compare(store, place, read, options)
    await (options.dryRun ? showPreview : save)(shell, store, place, read, before, options)
  })
}

/** Says what the import would do. Changes nothing. */
async function showPreview(
  shell: Shell,
  store: CommandStore,
  place: Place,
  _read: ReadFile,
  { absent, present, added, changed, unchanged, duplicates }: PreviewedImport,
  options: ImportOptions,
): Promise<void> {
  const removed = absent.length
  const counts = { added, changed, unchanged, duplicates }
  if (options.json) printJson(shell, { ...counts, removed })
  const most = isMost({ absent, present }) ? '. It needs --prune-all' : ''
  say(
    shell,
    `nothing was imported: for ${place.name} in ${store.place}, this would be ` +
      `${sayCounts(counts)}, ${count(removed)} removed${most}`,
  )
}

async function save(
  shell: Shell,
  store: CommandStore,
  place: Place,
  read: ReadFile,
  { absent, present }: PreviewedImport,
  options: ImportOptions,
): Promise<void> {
  const { userId, slug, name } = place
  const operator = operatorAt(presentInstant())
  const removal = `remove ${countOf(absent.length, 'server')} of ${name} from ${store.place}`
  if (isMost({ absent, present }) && !options.pruneAll)
    throw new Misuse(
      `nothing was changed: this would ${removal}, more than half of ${count(present)}. ` +
        'If the file is complete, use --prune-all instead of --prune',
    )
  if (absent.length > 0) await confirm(shell, `${removal} that are not in the import`, options)
  const organizationId =
    slug === null
      ? null
      : await organizations(store.database).ensureOrganization(slug, userId, operator)
  const actor = inParts(operator)
  const counts = await saveInBatches(shell, store, userId, organizationId, read, actor)
  const removed = absent.length === 0 ? 0 : await prune(store, place, read, absent, actor)
  await endParts(
    store.database,
    actor,
    'servers imported',
    userId,
    sayAll(counts, removed, options),
  )
  if (options.json) printJson(shell, { ...counts, removed })
  const { added, changed, unchanged } = counts
  say(
    shell,
    `imported ${countOf(added + changed + unchanged, 'server')} for ${name}: ` +
      sayAll(counts, removed, options),
  )
}

function sayAll(counts: ImportCounts, removed: number, options: ImportOptions): string {
  const isPruned = options.prune === true || options.pruneAll === true
  return isPruned ? `${sayCounts(counts)}, ${count(removed)} removed` : sayCounts(counts)
}

/** A file that was cut off looks like one that removes most servers. */
function isMost({ absent, present }: Pick<PreviewedImport, 'absent' | 'present'>): boolean {
  return absent.length > present / 2
}

/** Removes the servers that were confirmed, unless an entry means them by now. */
async function prune(
  store: CommandStore,
  place: Place,
  read: ReadFile,
  confirmed: readonly string[],
  actor: Actor,
): Promise<number> {
  const absent = new Set((await compare(store, place, read, { prune: true })).absent)
  const ids = confirmed.filter((id) => absent.has(id))
  let removed = 0
  await inBatches(async (rows) => {
    const batch = ids.splice(0, rows)
    removed += await serverImports(store.database).removeServers(place.userId, batch, actor)
    return batch.length
  }, store.isServed)
  return removed
}

/** No organization has this id. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000'

async function compare(
  store: CommandStore,
  { userId, slug }: Place,
  { entries, places, source }: ReadFile,
  { prune = false, pruneAll = false }: ImportOptions,
): Promise<PreviewedImport> {
  const organizations =
    slug === null ? [] : await inventory(store.database).listOrganizationRecords()
  // An import creates a missing organization.
  const { id = NO_ORGANIZATION } = organizations.find((one) => one.slug === slug) ?? {}
  const preview = await serverImports(store.database).previewServers(
    userId,
    slug === null ? null : id,
    entries,
    {
      placeOf: (position) => places[position]!,
      prune: prune || pruneAll,
    },
  )
  if (preview.wrong.length > 0) throw new Failure(sayWrong(source, preview.wrong))
  return preview
}
