import { html } from 'hono/html'
import type { RegisteredServer } from '../../server.ts'
import type { Becomes, Selection } from '../../server-change.ts'
import { type Matching, PAGE_SIZE } from '../../server-search.ts'
import { count } from '../../../model/text.ts'
import { type Context, fieldOf } from '../../../web/context.ts'
import type { Database } from '../../../database/database.ts'
import { showFormTag } from '../../../web/html/form-field.ts'
import { type Html, isolated } from '../../../web/html/text.ts'
import { organizationOf, readPlace } from '../location.ts'
import { searchOf } from '../list/query.ts'
import { serverSearch } from '../../records/server-search.ts'
import { servers } from '../../records/servers.ts'

/*
 * Which servers a form changes, and how it asks before it does.
 */

/** What a button of a list, or of the question behind it, asks for. */
export interface WantedByForm {
  becomes: Becomes
  /** At least one id, or all that match the search of the list. */
  selected: Selection
  /** The row whose button was pressed. */
  row: number | null
  isConfirmed: boolean
}

/** Where lists and questions send their forms. */
export const CHANGE_PATH = '/dashboard/servers/change'

/** What the field `move` has for a place. */
export const PERSONAL = 'personal'

/**
 * `rows` has the servers of a page. A selected row has a field with its number as the name. A
 * button of a row names the row, and the other buttons name in `to` what becomes of the selected
 * rows. `confirmed` names what a user was asked about, and then all of `rows` are meant. `all`
 * stands for all servers that match the search of the list `from`, instead of rows. `move` has the
 * place to which servers move: `personal`, or the id of an organization. Null if no server is
 * selected.
 */
export function readChange(c: Context): WantedByForm | null {
  const ids = fieldOf(c, 'rows').split('.').slice(0, PAGE_SIZE)
  for (const status of ['draft', 'published'] as const) {
    const row = Number(fieldOf(c, status) || Number.NaN)
    const id = ids[row]
    if (id !== undefined) return { becomes: { status }, selected: [id], row, isConfirmed: true }
  }
  const place = fieldOf(c, 'move')
  const confirmed = fieldOf(c, 'confirmed')
  const isConfirmed = confirmed !== ''
  const to = confirmed || fieldOf(c, 'to') || (place === '' ? '' : 'moved')
  const selected =
    readMatching(readPlace(fieldOf(c, 'from')), fieldOf(c, 'all')) ??
    ids.filter((id, row) => id !== '' && (isConfirmed || c.get('form').has(String(row))))
  if ('length' in selected && selected.length === 0) return null
  switch (to) {
    case 'published':
    case 'draft':
      return { becomes: { status: to }, selected, row: null, isConfirmed: true }
    case 'deleted':
      return { becomes: null, selected, row: null, isConfirmed }
    case 'moved': {
      const becomes = { organization_id: place === PERSONAL ? null : place }
      return { becomes, selected, row: null, isConfirmed: place !== '' }
    }
    default:
      return null
  }
}

/** All that match the search of a list, if the box with their number is checked. */
function readMatching(place: string | null, number: string): Matching | null {
  if (place === null || !/^[1-9]\d{0,3}$/.test(number)) return null
  const { text, status } = searchOf(new URLSearchParams(place.split(/[?#]/)[1]))
  const organization_id = organizationOf(place)
  return { organization_id, text, number: Number(number), ...(status && { status }) }
}

/** Null if another number of servers match than the page showed. */
export async function findSelected(
  database: Database,
  userId: string,
  selected: Selection,
): Promise<RegisteredServer[] | null> {
  if ('number' in selected) return serverSearch(database).findMatching(userId, selected)
  const found = await Promise.all(selected.map((id) => servers(database).findServer(userId, id)))
  return found.filter((server) => server !== null)
}

/** The servers of a question, which the user confirms. */
export interface Asked {
  /** At least one. */
  servers: readonly RegisteredServer[]
  /** The list to return to. */
  from: string
  /** True if they are all that match the search of the list. */
  isAll: boolean
}

/** What the question is about: hidden fields, and the names of several servers. */
export function showAsked({ servers: asked, from, isAll }: Asked): Html {
  const [name, value] = isAll
    ? ['all', asked.length]
    : ['rows', asked.map(({ id }) => id).join('.')]
  return html`${showFormTag()}<input type="hidden" name="from" value="${from}">
<input type="hidden" name="${name}" value="${value}">
${asked.length === 1 ? '' : showNames(asked)}`
}

/** The names of several servers, up to as many as a page of the list has. */
function showNames(asked: readonly RegisteredServer[]): Html {
  const more = asked.length - PAGE_SIZE
  return html`<ul>${asked.slice(0, PAGE_SIZE).map(({ name }) => html`<li>${isolated(name)}</li>`)}${more > 0 ? html`<li>and ${count(more)} more</li>` : ''}</ul>`
}
