import { html } from 'hono/html'
import {
  type ChangedField,
  type PlannedImport,
  type PlannedServer,
  type ImportCounts,
  LISTED_MAX,
  sayCounts,
} from '../../server-import.ts'
import { type LeftOut, sayLeftOut } from '../../file/records.ts'
import type { ReadServers } from '../../file/server-file.ts'
import { REGISTERED_MAX } from '../../server.ts'
import { count, countOf } from '../../../model/text.ts'
import type { Context } from '../../../web/context.ts'
import { type Notice, showNotice, showPage } from '../../../web/html/page.ts'
import { pill, showFilter } from '../../../web/html/parts.ts'
import { type Html, isolated, LINE_COLUMNS, truncated } from '../../../web/html/text.ts'
import { IMPORT_PATH } from './form.ts'
import { readLeftOut, writeLeftOut } from './left-out.ts'

/** Mistakes that a check lists. The counts cover all of them. */
const WRONG_MAX = 20
/** Servers and fields that a check shows. With these, it fits into a page of 50 kB. */
const LINES_MAX = 140
/** Columns of a value that changes, and its bytes: a row can have sixteen of them. */
const VALUE_MAX = 60

/** What an import would do, with a button to confirm it. */
export function showCheck(
  c: Context,
  id: string,
  plan: PlannedImport,
  notice?: Notice,
): Promise<Response> {
  return showPage(c, {
    title: 'Check the import',
    lead: `${sayCounts(plan)}.`,
    status: notice === undefined ? 200 : 409,
    notice,
    body: html`${showAdjusted(c)}${showPlan(c, id, plan)}`,
  })
}

/** What an import has done, for a user who comes back to its check. */
export function showSaved(c: Context, saved: ImportCounts, isUndone: boolean): Promise<Response> {
  return showPage(c, {
    title: isUndone ? 'Import undone' : 'Import finished',
    lead: `${sayCounts(saved)}.`,
    body: isUndone
      ? html`<p>You undid this import. To import the servers again, <a href="${IMPORT_PATH}">check them again</a>.</p>`
      : html`<p>This import is saved. Sending it again changes nothing. <a href="/dashboard/servers">Go to your servers</a></p>`,
  })
}

function showAdjusted(c: Context): Html | '' {
  const adjusted = readLeftOut(c)
  const { offered } = adjusted
  return html`${showLeftOut(adjusted)}${offered === 0 ? '' : html`<p class="hint">${countOf(offered, 'value')} ${offered === 1 ? 'differs' : 'differ'} from a known edition or status only in case. The import takes the known one.</p>`}`
}

function showLeftOut(leftOut: LeftOut): Html | '' {
  const said = sayLeftOut(leftOut, null)
  return said === null ? '' : html`<p class="hint">${said[0]!.toUpperCase()}${said.slice(1)}.</p>`
}

function showPlan(c: Context, id: string, plan: PlannedImport): Html {
  const { added, changed, unchanged, isTooMany, fingerprint, wrong } = plan
  const servers = added + changed
  const back = html`<a class="button" href="${IMPORT_PATH}">Back</a>`
  if (wrong.length > 0)
    return html`<p>Nothing was imported. Your servers have changed since this check:</p>${showMistakes(wrong)}<div class="row">${back}</div>`
  const none =
    unchanged === 0
      ? 'The file has no servers of yours outside organizations.'
      : 'Your servers already have these values.'
  if (servers === 0)
    return html`<p>${none} There is nothing to import.</p><div class="row">${back}</div>`
  if (isTooMany) return html`${showNotice(TOO_MANY)}<div class="row">${back}</div>`
  return html`<form class="row" method="post" action="${IMPORT_PATH}/${id}"><button class="primary" name="plan" value="${fingerprint}">Import ${countOf(servers, 'server')}</button>${back}</form>
${showPlanned(c, plan)}`
}

const TOO_MANY: Notice = {
  kind: 'bad',
  text: `Nothing was imported. You would have more than ${REGISTERED_MAX} servers, the limit. Delete some or import fewer.`,
}

/** All servers of the plan, or only those that are new or that change. */
function showPlanned(c: Context, { added, changed, listed }: PlannedImport): Html {
  const shown = {
    '': { label: 'All', total: added + changed, servers: [...listed.added, ...listed.changed] },
    new: { label: 'New', total: added, servers: listed.added },
    changed: { label: 'Changed', total: changed, servers: listed.changed },
  }
  const wanted = c.req.query('show') ?? ''
  const current = wanted === 'new' || wanted === 'changed' ? wanted : ''
  const { total } = shown[current]
  const servers = withinLines(shown[current].servers.slice(0, LISTED_MAX))
  const query = new URLSearchParams(writeLeftOut(readLeftOut(c)))
  const segments = Object.entries(shown).map(([show, { label, total }]) => {
    query.set('show', show)
    return {
      href: `?${query.toString()}`,
      label: `${label} ${count(total)}`,
      isCurrent: show === current,
    }
  })
  const more = total - servers.length
  return html`${added > 0 && changed > 0 ? showFilter('Servers shown', segments) : ''}
<div class="table"><table><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Change</th></tr></thead><tbody>
${servers.map(showPlannedRow)}</tbody></table></div>
${more > 0 ? html`<p class="hint">${more} more ${more === 1 ? 'server is' : 'servers are'} not shown.</p>` : ''}`
}

/** The first servers that take LINES_MAX together. */
function withinLines(servers: readonly PlannedServer[]): readonly PlannedServer[] {
  let lines = 0
  const end = servers.findIndex(({ fields }) => {
    lines += 1 + fields.length
    return lines > LINES_MAX
  })
  return end === -1 ? servers : servers.slice(0, end)
}

function showPlannedRow({ name, address, fields }: PlannedServer): Html {
  const change =
    fields.length === 0
      ? pill('new', 'good')
      : html`${pill('changed', 'warn')}<ul>${fields.map(showField)}</ul>`
  return html`<tr><th scope="row">${truncated(name)}</th><td><code>${truncated(address, LINE_COLUMNS, LINE_COLUMNS)}</code></td><td>${change}</td></tr>
`
}

function showField({ name, from, to }: ChangedField): Html {
  return html`<li>${inWords(name)}: ${showValue(from)} → ${showValue(to)}</li>`
}

function showValue(value: string | null): Html {
  return value === null ? html`none` : html`<code>${truncated(value, VALUE_MAX, VALUE_MAX)}</code>`
}

function inWords(field: string): string {
  return field === 'listing_kind' ? 'kind' : field === 'updated_at' ? 'date' : field
}

/** The counts of a check with mistakes, and the first mistakes. */
export function showWrong(
  wrong: ReadServers['wrong'],
  plan: PlannedImport,
  leftOut: LeftOut,
): Html {
  const places = new Set(wrong.map(({ place }) => place)).size
  const { added, changed } = plan
  return html`<p>${count(added)} new, ${count(changed)} changed, ${count(places)} wrong:</p>
${showMistakes(wrong)}${showLeftOut(leftOut)}`
}

/** The first mistakes of a file in which reading has ended early. */
export function showFirstWrong({ wrong, leftOut }: ReadServers): Html {
  return html`<p>Many servers are wrong. Reading ended at ${wrong.at(-1)!.place}, after ${countOf(wrong.length, 'mistake')}:</p>
${showMistakes(wrong)}${showLeftOut(leftOut)}`
}

function showMistakes(wrong: ReadServers['wrong']): Html {
  const more = wrong.length - WRONG_MAX
  return html`<ul>${wrong.slice(0, WRONG_MAX).map(({ place, message }) => html`<li>${place}: ${isolated(message)}</li>`)}${more > 0 ? html`<li>and ${more} more</li>` : ''}</ul>`
}
