import { operatorAt } from '../../model/audit.ts'
import { nameOf } from '../../accounts/user.ts'
import { presentInstant } from '../../model/instant.ts'
import { isOrganizationSlug } from '../../organizations/organization.ts'
import {
  type ImportCounts,
  type PlannedImport,
  type SavedServers,
  sayCounts,
} from '../server-import.ts'
import { SERVERS_MAX } from '../../model/server-row.ts'
import { count, countOf, quote } from '../../model/text.ts'
import { confirm } from '../../terminal/confirm.ts'
import { changeStore, type CommandStore, withStore } from '../../terminal/context.ts'
import { findUser, needUser } from '../../accounts/commands/named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say } from '../../terminal/output.ts'
import { type ReadFile, readFile, sayWrong } from './server-file.ts'
import type { Shell } from '../../terminal/shell.ts'
import { organizations } from '../../organizations/records/organizations.ts'
import { serverImports } from '../records/server-imports.ts'
import { inventory } from '../../directory/records/inventory.ts'
import { REGISTERED_MAX } from '../server.ts'

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
    const planned = await plan(store, place, read, options)
    if (options.dryRun) showPlan(shell, store, place, planned, options)
    else await save(shell, store, place, read, planned, options)
  })
}

/** Says what the import would do. Changes nothing. */
function showPlan(
  shell: Shell,
  store: CommandStore,
  place: Place,
  planned: PlannedImport,
  options: ImportOptions,
): void {
  const removed = planned.absent.length
  if (options.json) printJson(shell, countsOf({ ...planned, removed }))
  const most = isMost(planned) ? '. It needs --prune-all' : ''
  say(
    shell,
    `nothing was imported: for ${place.name} in ${store.place}, this would be ` +
      `${sayCounts(planned)}, ${count(removed)} removed${most}`,
  )
}

async function save(
  shell: Shell,
  store: CommandStore,
  place: Place,
  read: ReadFile,
  planned: PlannedImport,
  options: ImportOptions,
): Promise<void> {
  const { userId, slug, name } = place
  const { absent, present } = planned
  const operator = operatorAt(presentInstant())
  const removal = `remove ${countOf(absent.length, 'server')} of ${name} from ${store.place}`
  if (isMost(planned) && !options.pruneAll)
    throw new Misuse(
      `nothing was changed: this would ${removal}, more than half of ${count(present)}. ` +
        'If the file is complete, use --prune-all instead of --prune',
    )
  if (absent.length > 0) await confirm(shell, `${removal} that are not in the import`, options)
  const organizationId =
    slug === null
      ? null
      : await organizations(store.database).ensureOrganization(slug, userId, operator)
  const saved = await serverImports(store.database).saveServers(
    userId,
    organizationId,
    read.entries,
    operator,
    { ...optionsOf(read, options), removed: absent },
  )
  refuse(saved, place, read)
  const { added, changed, unchanged, removed } = saved
  if (options.json) printJson(shell, countsOf(saved))
  say(
    shell,
    `imported ${countOf(added + changed + unchanged, 'server')} for ${name}: ` +
      `${sayCounts(saved)}${isPruning(options) ? `, ${count(removed)} removed` : ''}`,
  )
}

const countsOf = ({ added, changed, unchanged, removed }: ImportCounts): ImportCounts => ({
  added,
  changed,
  unchanged,
  removed,
})

const isPruning = ({ prune = false, pruneAll = false }: ImportOptions): boolean => prune || pruneAll

/** A file that was cut off looks like one that removes most servers. */
function isMost({ absent, present }: Pick<PlannedImport, 'absent' | 'present'>): boolean {
  return absent.length > present / 2
}

const optionsOf = ({ places }: ReadFile, options: ImportOptions) => ({
  placeOf: (position: number) => places[position]!,
  prunes: isPruning(options),
  ownedMax: REGISTERED_MAX,
})

/** No organization has this id. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000'

async function plan(
  store: CommandStore,
  place: Place,
  read: ReadFile,
  options: ImportOptions,
): Promise<PlannedImport> {
  const { userId, slug } = place
  const organizations =
    slug === null ? [] : await inventory(store.database).listOrganizationRecords()
  // An import creates a missing organization.
  const { id = NO_ORGANIZATION } = organizations.find((one) => one.slug === slug) ?? {}
  const planned = await serverImports(store.database).planServers(
    userId,
    slug === null ? null : id,
    read.entries,
    presentInstant(),
    optionsOf(read, options),
  )
  refuse(planned, place, read)
  return planned
}

function refuse({ wrong, isTooMany }: SavedServers, { name }: Place, { source }: ReadFile): void {
  if (wrong.length > 0) throw new Failure(sayWrong(source, wrong))
  if (isTooMany)
    throw new Failure(
      `nothing was imported: ${name} would have more than ${REGISTERED_MAX} servers, the limit. ` +
        'Remove some with `server-listing server remove` or import fewer',
    )
}
