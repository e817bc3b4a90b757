import { html } from 'hono/html'
import { SERVERS_MAX } from '../../model/server-row.ts'
import {
  PAGE_SIZE,
  SEARCH_LENGTH_MAX,
  SEARCHED_MAX,
  SORT_COLUMNS,
  type ServerPage,
  type ServerSearch,
  STATUS_FILTERS,
} from '../server-search.ts'
import { count, countOf } from '../../model/text.ts'
import type { Context } from '../../web/context.ts'
import { AS_CODE } from '../../web/html/form-field.ts'
import { icon } from '../../web/html/icon.ts'
import { showEmpty } from '../../web/html/parts.ts'
import { type Html, isolated } from '../../web/html/text.ts'

/**
 * What a page's address asks for. A wrong value counts as absent. Of two values of one name the
 * later one counts: a button's value stands behind what the form has had.
 */
export function readSearch(c: Context): ServerSearch {
  const page = Number(readSelectedPage(c) ?? c.req.query('page') ?? 1)
  const isPage = Number.isInteger(page) && page >= 1 && page <= 10_000
  const typed = (c.req.query('q') ?? '').replace(/\p{Cc}/gu, '').trim()
  const text = [...typed].slice(0, SEARCH_LENGTH_MAX).join('')
  const status = STATUS_FILTERS.find((one) => one === c.req.queries('status')?.at(-1))
  const sort = readSort(c.req.queries('sort')?.at(-1) ?? '')
  return {
    text,
    page: isPage ? page : 1,
    ...(status === undefined ? {} : { status }),
    ...(sort === undefined ? {} : { sort }),
  }
}

/** The page on which every server is selected, if the user asked for that. */
export function readSelectedPage(c: Context): string | undefined {
  return c.req.query('select')
}

/** `name`, or `-name` for the opposite order. `-changed` is the order of the listing. */
function readSort(sent: string): ServerSearch['sort'] {
  const descending = sent.startsWith('-')
  const column = SORT_COLUMNS.find((one) => one === sent.replace(/^-/, ''))
  if (column === undefined || (column === 'changed' && descending)) return undefined
  return { column, descending }
}

/** The address of a search. Leaves out what every search has by itself. */
export function pathOf(path: string, search: ServerSearch): string {
  const query = new URLSearchParams(fieldsOf(search))
  if (search.page > 1) query.set('page', String(search.page))
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

function fieldsOf({ text, status, sort }: ServerSearch): Record<string, string> {
  return {
    ...(text === '' ? {} : { q: text }),
    ...(status === undefined ? {} : { status }),
    ...(sort === undefined ? {} : { sort: `${sort.descending ? '-' : ''}${sort.column}` }),
  }
}

/** A list of servers that a page shows. */
export interface Searched {
  path: string
  search: ServerSearch
  found: ServerPage
  /** True for the user's personal servers, of which the API returns the newest. */
  isPersonal: boolean
  /** True if all servers of the page are selected. */
  isSelected: boolean
}

/** The search's form: buttons outside of it name it. */
const FORM = 'search'

/**
 * The search field, the filter and the number of servers. Buttons instead of links keep the page
 * small, because each link would repeat the text.
 */
export function showTools({ path, search, found, isPersonal }: Searched): Html {
  const { q: _, ...others } = fieldsOf(search)
  return html`<form class="tools" id="${FORM}" method="get" action="${path}" role="search">
<label class="search">${icon('search')}<span class="unseen">Search servers</span><input name="q" type="search" value="${search.text}" autocomplete="off"${AS_CODE} placeholder="Name, address or slug"></label>
${Object.entries(others).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Search</button>
${showStatuses(search, found)}
<span class="end hint">${sayCount(search, found, isPersonal)}</span>
</form>`
}

const STATUS_LABELS = [
  ['', 'All'],
  ['published', 'Published'],
  ['draft', 'Drafts'],
  ['other', 'Other'],
] as const

function showStatuses(search: ServerSearch, { counts }: ServerPage): Html {
  const status = search.status ?? ''
  const labels = STATUS_LABELS.filter(
    ([value]) => value !== 'other' || counts.other > 0 || status === 'other',
  )
  return html`<div class="filter" role="group" aria-label="Status">${labels.map(([value, label]) => html`<button class="quiet" name="status" value="${value}"${value === status ? html` aria-current="true"` : ''}>${label}</button>`)}</div>`
}

/** A button that selects every server of the page. It works without script. */
export function showSelectAll({ page }: ServerSearch): Html {
  return html`<button class="quiet" form="${FORM}" name="select" value="${page}">Select all</button>`
}

/** A button that sorts by this column. */
export function showSort(value: string, label: string): Html {
  return html`<button class="quiet" form="${FORM}" name="sort" value="${value}">${label}</button>`
}

function sayCount({ text, status }: ServerSearch, found: ServerPage, isPersonal: boolean): string {
  const { registered } = found
  const isAll = text === '' && status === undefined
  const servers = countOf(registered, 'server')
  const shown = isAll ? servers : `${count(found.total)} of ${servers}`
  return [
    shown,
    ...(registered > SEARCHED_MAX ? [`the newest ${count(SEARCHED_MAX)} listed`] : []),
    ...(isPersonal && registered > SERVERS_MAX ? [`${SERVERS_MAX} returned by the API`] : []),
  ].join(' · ')
}

/** Buttons for the other pages. */
export function showPages({ search, found }: Searched): Html | '' {
  const { page, sort } = search
  const pages = Math.max(page, Math.ceil(found.total / PAGE_SIZE))
  if (pages === 1) return ''
  const [before, after] = sort === undefined ? ['Newer', 'Older'] : ['Previous', 'Next']
  return html`<nav class="row pages" aria-label="Pages">
${page > 1 ? showPageButton(page - 1, before) : html`<span></span>`}
<span>Page ${page} of ${pages}</span>
${page < pages ? showPageButton(page + 1, after) : html`<span></span>`}
</nav>`
}

function showPageButton(to: number, label: string): Html {
  return html`<button form="${FORM}" name="page" value="${to}">${label}</button>`
}

/** What stands in the place of a page without servers. It names the filter that found none. */
export function showNone({ path, search: { text, status } }: Searched): Html {
  const servers = status === undefined ? 'servers' : FILTERED[status]
  return showEmpty({
    icon: 'search',
    title: `No ${servers} found`,
    ...(text === '' ? {} : { text: html`No ${servers} match “${isolated(text)}”.` }),
    action:
      text === ''
        ? { href: path, label: 'Show all servers' }
        : status === undefined
          ? { href: path, label: 'Clear search' }
          : { href: pathOf(path, { text, page: 1 }), label: 'Search all servers' },
  })
}

const FILTERED = {
  published: 'published servers',
  draft: 'drafts',
  other: 'servers with another status',
}
