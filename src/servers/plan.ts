import type { Instant } from '../model/instant.ts'
import { quote } from '../model/text.ts'
import { type FieldValues, INITIAL } from './fields.ts'
import { readValue, type ServerEntry } from './server-entry.ts'

/*
 * Which server an entry means, and what becomes of it. Imports and declared state share this rule.
 */

/** A server with the organization that it is under, by its id or slug, or null if personal. */
export interface PlacedServer extends FieldValues {
  id: string
  created_by: string
  organization: string | null
  updated_at: Instant
}

/** Without an organization, a server stays where it is, and a new one is personal. */
export interface WantedServer {
  entry: ServerEntry
  organization?: string | null | undefined
}

export interface PlanOptions {
  userId: string
  /** The instant of new and of changed servers. */
  now: Instant
  /**
   * True if the entries declare what is stored. Then an unknown id makes a server with it, null
   * empties a slug, and an older instant counts.
   */
  declares: boolean
  /** Whether the servers that no entry means are to go. */
  prunes: boolean
  makeId(): string
  /** The place of an entry in messages. */
  nameOf(position: number): string
}

export interface PlannedServer {
  position: number
  /** Null for a new server. */
  before: PlacedServer | null
  after: PlacedServer
  /** Whether the server has the instant of its entry. */
  isDated: boolean
}

/** A mistake of an entry that shows only beside other entries or stored servers. */
export interface ServerMistake {
  position: number
  field: 'id' | 'slug' | 'address'
  /** Follows the name of the field. */
  message: string
}

export interface ServerPlan {
  /** In the order of the entries. */
  planned: PlannedServer[]
  /** The servers of the user that no entry means. */
  absent: PlacedServer[]
  mistakes: ServerMistake[]
}

/**
 * An entry means the user's server with its id, else the one with its slug, else the one with its
 * address and edition. Any other entry is a new server. A new slug means no server that has
 * another one. Two entries for one server are a mistake.
 *
 * `stored` has at least the servers of the user with an id, a slug or an address of an entry, and
 * all of them if the plan prunes. A server of another user with an id of an entry is a mistake.
 */
export function planServers(
  stored: readonly PlacedServer[],
  wanted: readonly WantedServer[],
  options: PlanOptions,
): ServerPlan {
  const { userId, declares, nameOf } = options
  const own = stored.filter(({ created_by }) => created_by === userId)
  const byId = new Map(stored.map((server) => [server.id, server]))
  const bySlug = Map.groupBy(own, slugIn)
  const { planned, mistakes, meant, complain, mean } = createDraft(wanted, options)
  const left: number[] = []
  for (const [position, { entry, organization = null }] of wanted.entries()) {
    const { id, slug } = entry
    const known = byId.get(id ?? '')
    const named = slug ? (bySlug.get(slugIn({ slug, organization })) ?? []) : []
    if (known !== undefined) mean(position, 'id', [known])
    else if (declares && id !== undefined) mean(position, 'id', [])
    else if (named.length > 0) mean(position, 'slug', named)
    else left.push(position)
  }
  const isFree = ({ id }: PlacedServer) => !meant.has(id)
  const free = Map.groupBy(own.filter(isFree), addressIn)
  const taken = Map.groupBy(planned, ({ after }) => addressIn(after))
  for (const position of left) {
    const { entry, organization = null } = wanted[position]!
    const key = addressIn({ address: entry.address, organization })
    const found = meantByAddress(entry, free.get(key) ?? [])
    const others = taken.get(key) ?? []
    const same =
      found.length > 0 || entry.slug
        ? undefined
        : others.find(({ after }) => isOf(after, entry.edition ?? INITIAL.edition))
    if (same !== undefined)
      complain(position, 'address', sayTwice(nameOf(same.position), 'address'))
    else others.push(...mean(position, 'address', found))
    taken.set(key, others)
  }
  planned.sort(byPosition)
  const absent = own.filter(isFree)
  complainAboutSlugs(planned, options.prunes ? [] : absent, nameOf, complain)
  return { planned, absent, mistakes: mistakes.toSorted(byPosition) }
}

const byPosition = (one: { position: number }, other: { position: number }): number =>
  one.position - other.position

type Complain = (position: number, field: ServerMistake['field'], message: string) => void

function sayTwice(other: string, field: ServerMistake['field']): string {
  const ways = field === 'address' ? 'remove one, or give each a "slug"' : 'remove one'
  return `means the same server as ${other}; ${ways}`
}

/** What the entries mean, one after another. */
function createDraft(wanted: readonly WantedServer[], options: PlanOptions) {
  const { userId, nameOf } = options
  const planned: PlannedServer[] = []
  const mistakes: ServerMistake[] = []
  /** The positions of the entries, by the ids of their servers. */
  const meant = new Map<string, number>()
  const complain: Complain = (position, field, message) => {
    mistakes.push({ position, field, message })
  }
  return {
    planned,
    mistakes,
    meant,
    complain,
    /** The entry means this server, or a new one. Returns it unless that is a mistake. */
    mean(
      position: number,
      field: ServerMistake['field'],
      found: readonly PlacedServer[],
    ): readonly PlannedServer[] {
      const [before = null] = found
      const twice = meant.get(before?.id ?? '')
      const number = found.length
      if (number > 1)
        complain(
          position,
          field,
          `is the ${field} of ${number} servers of this user; give the "id" of one`,
        )
      else if (before !== null && before.created_by !== userId)
        complain(position, field, "is the id of another user's server")
      else if (twice !== undefined) complain(position, field, sayTwice(nameOf(twice), field))
      else {
        if (before !== null) meant.set(before.id, position)
        const one = { position, before, ...become(wanted[position]!, before, options) }
        planned.push(one)
        return [one]
      }
      return []
    },
  }
}

type Slugged = Pick<PlacedServer, 'slug' | 'organization'>
const slugIn = ({ slug, organization }: Slugged): string => `${organization ?? ''}/${slug ?? ''}`
const addressIn = ({
  address,
  organization,
}: Pick<PlacedServer, 'address' | 'organization'>): string => `${organization ?? ''}/${address}`

const isOf = (server: PlacedServer, edition: string): boolean =>
  readValue(server.edition) === edition

/**
 * Of the servers with its address, those that an entry means. Without an edition it means one of
 * the default edition, or else of any. A server without a slug comes first.
 */
function meantByAddress(
  { edition, slug }: ServerEntry,
  servers: readonly PlacedServer[],
): readonly PlacedServer[] {
  const ofEdition = servers.filter((server) => isOf(server, edition ?? INITIAL.edition))
  const found = edition === undefined && ofEdition.length === 0 ? servers : ofEdition
  const slugless = found.filter((server) => server.slug === null)
  return slugless.length > 0 || slug ? slugless : found
}

/**
 * The server with the fields of an entry. A value that says what is stored stays as it is, because
 * an earlier version stored spaces and words for no value.
 */
function become(
  { entry, organization }: WantedServer,
  before: PlacedServer | null,
  { userId, now, declares, makeId }: PlanOptions,
): Pick<PlannedServer, 'after' | 'isDated'> {
  const { id, address, slug, updated_at, ...given } = entry
  const kept: PlacedServer = before ?? {
    ...INITIAL,
    name: given.name,
    address,
    id: (declares && id) || makeId(),
    created_by: userId,
    organization: null,
    updated_at: now,
  }
  const after: PlacedServer = {
    ...kept,
    ...given,
    address,
    slug: slug === undefined || (slug === null && !declares) ? kept.slug : slug,
    organization: organization === undefined ? kept.organization : organization,
  }
  for (const [field, value] of Object.entries(kept))
    if (readValue(value) === after[field as keyof PlacedServer])
      Object.assign(after, { [field]: value })
  const isDated =
    updated_at !== undefined &&
    (before === null ||
      (declares ? updated_at !== before.updated_at : updated_at > before.updated_at))
  if (isDated) after.updated_at = updated_at
  else if (before !== null && isChanged(before, after)) after.updated_at = now
  return { after, isDated }
}

/** Whether a field differs. */
export function isChanged(before: PlacedServer | null, after: PlacedServer): boolean {
  if (before === null) return true
  const fields = Object.keys(after) as (keyof PlacedServer)[]
  return fields.some((field) => after[field] !== before[field])
}

/** A slug that a server gets belongs to no other server in its place. */
function complainAboutSlugs(
  planned: readonly PlannedServer[],
  absent: readonly PlacedServer[],
  nameOf: PlanOptions['nameOf'],
  complain: Complain,
): void {
  const first = new Map<string, string>()
  const hold = (server: Slugged, name: string) => {
    const key = slugIn(server)
    if (!first.has(key)) first.set(key, name)
  }
  const keeps = ({ before, after }: PlannedServer) =>
    before !== null && slugIn(before) === slugIn(after)
  for (const server of absent) hold(server, quote(server.name))
  for (const one of planned) if (keeps(one)) hold(one.after, nameOf(one.position))
  for (const one of planned) {
    if (keeps(one) || one.after.slug === null) continue
    const other = first.get(slugIn(one.after))
    if (other !== undefined)
      complain(one.position, 'slug', `is the slug of another server of this user: ${other}`)
    hold(one.after, nameOf(one.position))
  }
}
