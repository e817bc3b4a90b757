import type { RegisteredServer } from './server.ts'

/** Servers per page. */
export const PAGE_SIZE = 50
/** The maximum length of a search text. The rest is ignored. */
export const SEARCH_LENGTH_MAX = 64
/** A search covers this many of the newest servers. The dashboard offers no page beyond them. */
export const SEARCHED_MAX = 2_000

/** Statuses that a search can ask for; `other` is every other status. */
export const STATUS_FILTERS = ['published', 'draft', 'other'] as const
export type StatusFilter = (typeof STATUS_FILTERS)[number]

export const SORT_COLUMNS = ['name', 'address', 'edition', 'status', 'changed'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]

export interface ServerSearch {
  /** The text to find in a name, address or slug, ignoring case. Empty finds all servers. */
  text: string
  /** Counted from 1. */
  page: number
  status?: StatusFilter
  /** Newest first if absent, as in the API's answer. */
  sort?: { column: SortColumn; descending: boolean }
}

/** All servers of a search that the user registered, whatever its page and order. */
export interface Matching {
  /** Null for the user's personal servers. */
  organization_id: string | null
  text: string
  status?: StatusFilter
  /** The number of them that the user has seen. */
  number: number
}

export interface FoundServer extends RegisteredServer {
  /** The position among all servers of the search's scope, newest first, counted from 1. */
  rank: number
}

export interface ServerPage {
  servers: FoundServer[]
  /** The number of matches among the newest SEARCHED_MAX servers. */
  total: number
  /** How many of these the user registered. The user can change only those. */
  ownMatches: number
  /** The number of the newest SEARCHED_MAX servers with each status, whatever the search is. */
  counts: Record<StatusFilter, number>
  /** The number of all servers of the search's scope. */
  registered: number
}

/** The number of servers that a search can find. */
export function countAll({ published, draft, other }: ServerPage['counts']): number {
  return published + draft + other
}

/**
 * The range of newest servers that a store reads for a search. A search for all servers, newest
 * first, needs one page.
 */
export function rowsToRead(search: ServerSearch): { limit: number; offset: number } {
  if (isPlain(search)) {
    const offset = (search.page - 1) * PAGE_SIZE
    return { limit: Math.max(0, Math.min(PAGE_SIZE, SEARCHED_MAX - offset)), offset }
  }
  return { limit: SEARCHED_MAX, offset: 0 }
}

/**
 * The page of a search. `servers` is the range that `rowsToRead` returned. Compares and sorts texts
 * here, so that the result does not depend on an engine or a locale.
 */
export function toPage(
  servers: FoundServer[],
  { own, ...counted }: Pick<ServerPage, 'counts' | 'registered'> & { own: number },
  search: ServerSearch,
  userId: string,
): ServerPage {
  if (isPlain(search))
    return {
      servers,
      total: countAll(counted.counts),
      ownMatches: own,
      ...counted,
    }
  const { page, sort } = search
  const found = filter(servers, search)
  const sorted = sort === undefined ? found : found.toSorted(byColumn(sort))
  const first = (page - 1) * PAGE_SIZE
  return {
    servers: sorted.slice(first, first + PAGE_SIZE),
    total: found.length,
    ownMatches: found.filter(({ created_by }) => created_by === userId).length,
    ...counted,
  }
}

/** The servers that have the text and the status. */
export function filter<Row extends RegisteredServer>(
  servers: readonly Row[],
  { text, status }: Pick<ServerSearch, 'text' | 'status'>,
): readonly Row[] {
  const upperText = text.toUpperCase()
  const ofText = text === '' ? servers : servers.filter((server) => matches(server, upperText))
  return status === undefined ? ofText : ofText.filter((one) => filterOf(one.status) === status)
}

function isPlain({ text, status, sort }: ServerSearch): boolean {
  return text === '' && status === undefined && sort === undefined
}

/** Compares in upper case, because the lower case of Σ depends on its neighbors. */
function matches({ name, address, slug }: RegisteredServer, upperText: string): boolean {
  return [name, address, slug].some((field) => field?.toUpperCase().includes(upperText))
}

function filterOf(status: string): StatusFilter {
  return status === 'published' || status === 'draft' ? status : 'other'
}

/** Numbers within a text sort by their value: server 2 stands before server 10. */
const collator = new Intl.Collator('en', { numeric: true })

const TEXT_OF: Record<Exclude<SortColumn, 'changed'>, (server: FoundServer) => string> = {
  name: ({ name }) => name,
  address: ({ address }) => address,
  edition: ({ edition, version }) => `${edition}\n${version ?? ''}`,
  status: ({ status }) => status,
}

/** Equal texts keep the order of the listing. */
function byColumn({ column, descending }: NonNullable<ServerSearch['sort']>) {
  const sign = descending ? -1 : 1
  return (one: FoundServer, other: FoundServer): number => {
    if (column === 'changed') return sign * (other.rank - one.rank)
    const textOf = TEXT_OF[column]
    return sign * collator.compare(textOf(one), textOf(other)) || one.rank - other.rank
  }
}
