import type { Context } from '../../../web/context.ts'
import {
  SEARCH_LENGTH_MAX,
  SORT_COLUMNS,
  type ServerSearch,
  STATUS_FILTERS,
} from '../../server-search.ts'

/*
 * What a list of servers asks, as the query of its address.
 */

export function readSearch(c: Context): ServerSearch {
  return searchOf(new URL(c.req.url).searchParams)
}

/**
 * A wrong value counts as absent. Of two values of one name the later one counts: a button's value
 * stands behind what the form has had.
 */
export function searchOf(query: URLSearchParams): ServerSearch {
  const page = Number(query.get('select') ?? query.get('page') ?? 1)
  const isPage = Number.isInteger(page) && page >= 1 && page <= 10_000
  const typed = (query.get('q') ?? '').replace(/\p{Cc}/gu, '').trim()
  const text = [...typed].slice(0, SEARCH_LENGTH_MAX).join('')
  const status = STATUS_FILTERS.find((one) => one === query.getAll('status').at(-1))
  const sort = readSort(query.getAll('sort').at(-1) ?? '')
  return {
    text,
    page: isPage ? page : 1,
    ...(status === undefined ? {} : { status }),
    ...(sort === undefined ? {} : { sort }),
  }
}

/** `name`, or `-name` for the opposite order. `-changed` is the order of the listing. */
function readSort(sent: string): ServerSearch['sort'] {
  const descending = sent.startsWith('-')
  const column = SORT_COLUMNS.find((one) => one === sent.replace(/^-/, ''))
  if (column === undefined || (column === 'changed' && descending)) return undefined
  return { column, descending }
}

/** True if the user asked for a page on which every server is selected. */
export function isPageSelected(c: Context): boolean {
  return c.req.query('select') !== undefined
}

/** The address of a search. Leaves out what every search has by itself. */
export function pathOf(path: string, search: ServerSearch): string {
  const query = new URLSearchParams(fieldsOf(search))
  if (search.page > 1) query.set('page', String(search.page))
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

export function fieldsOf({ text, status, sort }: ServerSearch): Record<string, string> {
  return {
    ...(text === '' ? {} : { q: text }),
    ...(status === undefined ? {} : { status }),
    ...(sort === undefined ? {} : { sort: `${sort.descending ? '-' : ''}${sort.column}` }),
  }
}
