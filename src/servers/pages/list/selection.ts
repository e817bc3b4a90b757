import { html } from 'hono/html'
import type { ServerPage, ServerSearch } from '../../server-search.ts'
import { count } from '../../../model/text.ts'
import type { Html } from '../../../web/html/text.ts'
import { SEARCH_FORM } from './search.ts'

/*
 * What selects servers of a list, and the bar with what can be done with them. The bar is in sight
 * only if a box is checked: see `.list` in servers.css.
 */

/** The rows of a page that the user can select. */
interface Selectable {
  search: ServerSearch
  found: ServerPage
  /** How many servers of the page the user registered. */
  ownOnPage: number
}

/**
 * Selects the page, or all that match the search. The button works without script. The box has the
 * number of servers that it means, so that the change can refuse another number.
 */
export function showSelect({ search, found, ownOnPage }: Selectable): Html | '' {
  if (ownOnPage === 0) return ''
  const all = found.ownMatches
  const isEvery = all === ownOnPage
  const isAll = search.text === '' && search.status === undefined
  return html`<button class="quiet" form="${SEARCH_FORM}" name="select" value="${search.page}">${isEvery ? 'Select all' : 'Select page'}</button>
${isEvery ? '' : html`<label class="row"><input type="checkbox" name="all" value="${all}">All ${count(all)}${isAll ? '' : ' that match'}</label>`}`
}

/** The script counts the selected servers in its first element. */
export function showBar({ page }: ServerSearch, canMove: boolean): Html {
  return html`<div class="row bar" role="group" aria-label="Selected servers"><b>Selected</b><button class="quiet" form="${SEARCH_FORM}" name="page" value="${page}">Select none</button>
<button name="to" value="published">Publish</button><button name="to" value="draft">Unpublish</button>${canMove ? html`<button name="to" value="moved">Move to…</button>` : ''}<button name="to" value="deleted">Delete…</button></div>`
}
