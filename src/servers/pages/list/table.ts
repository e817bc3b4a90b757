import { html } from 'hono/html'
import type { Instant } from '../../../model/instant.ts'
import { SERVERS_MAX } from '../../../model/server-row.ts'
import { countAll, type FoundServer, SORT_COLUMNS, type SortColumn } from '../../server-search.ts'
import { showFormTag } from '../../../web/html/form-field.ts'
import { CHANGE_PATH } from '../changes/selected.ts'
import { publicUrlOf } from '../location.ts'
import { agoInWords } from '../../../web/html/relative-time.ts'
import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { pill } from '../../../web/html/parts.ts'
import { type Html, minuteOf, isolated } from '../../../web/html/text.ts'
import { pathOf } from './query.ts'
import { SEARCH_FORM, type Searched, showFound, showNone, showPages, showTools } from './search.ts'
import { showBar, showSelect } from './selection.ts'

/** A longer name may not fit into its two lines, so its tooltip has it, too. */
const SHORT_MAX = 30

export interface ServerTable extends Searched {
  /** Only servers that this user registered can be selected and changed. */
  userId: string
  now: Instant
  /** The URL below which servers have public pages. Null if they have none. */
  siteUrl: string | null
  /** True if the site manages servers, so that none can be selected and changed here. */
  isReadOnly: boolean
  /** The names of an organization's members, by their ids. */
  members?: ReadonlyMap<string, string>
  /** True if there is another place for the user's servers. */
  canMove: boolean
  /** What stands in the place of a list without any server. */
  whenNone: Html
}

/**
 * The servers of a search in one form. Its buttons act on the selected servers or on a row's. A row
 * has a number, which is also the name of its checkbox, and `rows` has their servers.
 */
export function showServers(table: ServerTable): Html {
  const { path, search, found, isReadOnly, whenNone } = table
  const { servers, counts } = found
  if (servers.length === 0 && countAll(counts) === 0) return whenNone
  const shown = servers.length === 0 ? showNone(table) : showRows(table)
  const ownOnPage = servers.filter((server) => isOwn(table, server)).length
  if (isReadOnly || ownOnPage === 0)
    return html`${showTools(table)}${showFound(table)}${shown}${showPages(table)}`
  return html`${showTools(table)}
<form class="list" method="post" action="${CHANGE_PATH}"><p hidden><button disabled></button></p>${showFormTag()}<input type="hidden" name="from" value="${pathOf(path, search)}"><input type="hidden" name="rows" value="${servers.map(({ id }) => id).join('.')}">
<div class="row">${showFound(table)}${showSelect({ search, found, ownOnPage })}</div>
${showBar(search, table.canMove)}
${shown}</form>
${showPages(table)}`
}

function isOwn({ userId }: ServerTable, server: FoundServer): boolean {
  return server.created_by === userId
}

function showRows(table: ServerTable): Html {
  return html`<div class="table servers"><table><thead><tr><th><span class="unseen" id="pick">Select</span></th>${SORT_COLUMNS.map((column) => showHead(table, column))}<th><span class="unseen">Action</span></th></tr></thead><tbody>
${table.found.servers.map((server, index) => showRow(table, server, index))}${endsAtStop(table) ? STOP : ''}</tbody></table></div>`
}

const LABELS: Record<SortColumn, string> = {
  name: 'Name',
  address: 'Address',
  edition: 'Edition',
  status: 'Status',
  changed: 'Changed',
}

/** Sorts by this column, first upward. The latest change comes first, as in the listing. */
function showHead({ search }: ServerTable, column: SortColumn): Html {
  const sort = search.sort ?? { column: 'changed', descending: true }
  const isSorted = sort.column === column
  const descending = isSorted ? !sort.descending : column === 'changed'
  const direction = sort.descending ? 'descending' : 'ascending'
  // Screen readers hear the order already.
  const arrow = html`<span aria-hidden="true">${sort.descending ? '↓' : '↑'}</span>`
  return html`<th${isSorted ? html` aria-sort="${direction}"` : ''}><button form="${SEARCH_FORM}" name="sort" value="${descending ? '-' : ''}${column}">${LABELS[column]}${isSorted ? arrow : ''}</button></th>`
}

/** In the order of the listing, a line stands behind the last server that the API returns. */
const STOP = html`<tr><td colspan="7" class="hint">The API stops here. It returns the ${SERVERS_MAX} most recently changed servers.</td></tr>`

function isListing({ isPersonal, search: { text, status, sort } }: ServerTable): boolean {
  return isPersonal && text === '' && status === undefined && sort === undefined
}

function endsAtStop(table: ServerTable): boolean {
  const { servers, counts } = table.found
  return isListing(table) && servers.at(-1)!.rank === SERVERS_MAX && countAll(counts) > SERVERS_MAX
}

function showRow(table: ServerTable, server: FoundServer, row: number): Html {
  const { id, name, address, edition, version, updated_at, rank } = server
  const canChange = isOwn(table, server) && !table.isReadOnly
  const isFirstBeyond = rank === SERVERS_MAX + 1 || (row === 0 && rank > SERVERS_MAX)
  const isBeyond = table.isPersonal && rank > SERVERS_MAX && !isListing(table)
  const words = version === null ? edition : `${edition} ${version}`
  const shown = escapeInvisible(name)
  const href = `${table.isPersonal ? '' : '../'}servers/${id}?row=${row}`
  return html`${isFirstBeyond && isListing(table) ? STOP : ''}<tr><td>${canChange ? html`<input type="checkbox" name="${row}" aria-labelledby="pick s${row}"${table.isSelected ? ' checked' : ''}>` : ''}</td>
<th><a id="s${row}" href="${href}"${name.length > SHORT_MAX ? html` title="${shown}"` : ''}>${shown}</a>${canChange ? '' : showRegistrant(table, server)}</th>
<td>${escapeInvisible(address)}</td><td>${escapeInvisible(words)}</td><td>${showStatus(table, server, row)}</td>
<td title="${minuteOf(updated_at)}">${agoInWords(updated_at, table.now)}${isBeyond ? html`<br>not returned` : ''}</td>
<td>${canChange ? showButton(server, row) : ''}</td></tr>
`
}

/** The status of a server with a public page leads there. */
function showStatus(table: ServerTable, server: FoundServer, row: number): Html {
  const shown = pill(escapeInvisible(server.status), TONES.get(server.status))
  const url = publicUrlOf(table, server)
  if (url === null) return shown
  return html`<a id="p${row}" aria-labelledby="p${row} s${row}" href="${url}">${shown}</a>`
}

const TONES = new Map([
  ['published', 'good'],
  ['draft', 'warn'],
] as const) as ReadonlyMap<string, 'good' | 'warn'>

/** The member who registered a server that the user can't change here. */
function showRegistrant({ members, userId }: ServerTable, { created_by }: FoundServer): Html | '' {
  if (members === undefined) return ''
  const name = created_by === userId ? 'you' : isolated(members.get(created_by) ?? FORMER)
  return html`<br><span class="hint">by ${name}</span>`
}

/** A member of an organization can't see the name of a user who has left it. */
export const FORMER = 'a former member'

function showButton({ status }: FoundServer, row: number): Html {
  const [next, label] = status === 'published' ? ['draft', 'Unpublish'] : ['published', 'Publish']
  return html`<button id="b${row}" aria-labelledby="b${row} s${row}" name="${next}" value="${row}">${label}</button>`
}
