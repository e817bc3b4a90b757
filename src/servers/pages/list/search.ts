import { html } from 'hono/html'
import { SERVERS_MAX } from '../../../model/server-row.ts'
import { PAGE_SIZE, SEARCHED_MAX, type ServerPage, type ServerSearch } from '../../server-search.ts'
import { count, countOf } from '../../../model/text.ts'
import { AS_CODE } from '../../../web/html/form-field.ts'
import { fieldsOf, pathOf } from './query.ts'
import { showEmpty } from '../../../web/html/parts.ts'
import { type Html, isolated } from '../../../web/html/text.ts'

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

/** The id of the search's form: buttons outside of it name it. */
export const SEARCH_FORM = 'search'

/**
 * The search field and the filter. Buttons instead of links keep the page small, because each link
 * would repeat the text.
 */
export function showTools({ path, search, found }: Searched): Html {
  const { q: _, ...others } = fieldsOf(search)
  return html`<form class="tools" id="${SEARCH_FORM}" method="get" action="${path}" role="search">
<a class="skip" href="#found">Skip to results</a>
<label class="search"><span class="unseen">Search servers</span><input name="q" type="search" value="${search.text}" autocomplete="off"${AS_CODE} placeholder="Name, address or slug"></label>
${Object.entries(others).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Search</button>
${showStatuses(search, found)}
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

/**
 * The number of results. It has the focus after a search, so that a screen reader reads it and the
 * keyboard goes on with the results.
 */
export function showFound({ search, found, isPersonal }: Searched): Html {
  const isSearch = search.page > 1 || Object.keys(fieldsOf(search)).length > 0
  return html`<p class="hint" id="found" tabindex="-1"${isSearch ? html` autofocus` : ''}>${sayCount(search, found, isPersonal)}</p>`
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
  return html`<button form="${SEARCH_FORM}" name="page" value="${to}">${label}</button>`
}

/** What stands in the place of a page without servers. It names the filter that found none. */
export function showNone({ path, search, found }: Searched): Html {
  const { text, status } = search
  const servers = status === undefined ? 'servers' : FILTERED[status]
  if (found.total > 0)
    return showEmpty({
      icon: 'search',
      title: 'No servers on this page',
      action: { href: pathOf(path, { ...search, page: 1 }), label: 'First page' },
    })
  if (text === '')
    return showEmpty({
      icon: 'search',
      title: `No ${servers}`,
      action: { href: path, label: 'Show all servers' },
    })
  return showEmpty({
    icon: 'search',
    title: html`No ${servers} match “${isolated(text)}”`,
    action:
      status === undefined
        ? { href: path, label: 'Clear search' }
        : { href: pathOf(path, { text, page: 1 }), label: 'Search any status' },
  })
}

const FILTERED = {
  published: 'published servers',
  draft: 'drafts',
  other: 'servers with another status',
}
