import { html } from 'hono/html'
import type {
  PlannedImport,
  PlannedServer,
  SavedImport,
} from '../../../listing/servers/checked-import.ts'
import type { ReadServers } from '../../../listing/servers/file/server-file.ts'
import { REGISTERED_MAX } from '../../../listing/servers/registered-server.ts'
import { countOf } from '../../../listing/text.ts'
import type { Context } from '../../context.ts'
import { type Notice, showNotice, showPage } from '../../html/page.ts'
import { pill } from '../../html/parts.ts'
import { type Html, isolated, NAME_BYTES, truncated } from '../../html/text.ts'
import { IMPORT_PATH } from './form.ts'

/** The most servers and mistakes that a check lists. The counts cover all of them. */
const LISTED_MAX = 40
const WRONG_MAX = 20

/** What an import would do, or has done, with a button to confirm it. */
export function showCheck(
  c: Context,
  id: string,
  plan: PlannedImport | SavedImport,
  notice?: Notice,
): Promise<Response> {
  const isSaved = !('fingerprint' in plan)
  return showPage(c, {
    title: isSaved ? 'Import finished' : 'Check the import',
    lead: isSaved ? sayCounts(plan.added, plan.changed, plan.unchanged) : sayPlan(plan),
    status: notice === undefined ? 200 : 409,
    notice,
    body: isSaved ? showDone() : showPlan(id, plan),
  })
}

function showDone(): Html {
  return html`<p>This import is saved. Sending it again changes nothing. <a href="/dashboard/servers">Go to your servers</a></p>`
}

function sayPlan({ added, changed, unchanged }: PlannedImport): string {
  return sayCounts(added.length, changed.length, unchanged)
}

function sayCounts(added: number, changed: number, unchanged: number): string {
  return `${added} new, ${changed} changed, ${unchanged} unchanged.`
}

function showPlan(id: string, plan: PlannedImport): Html {
  const { added, changed, isTooMany, fingerprint } = plan
  const servers = added.length + changed.length
  const back = html`<a class="button" href="${IMPORT_PATH}">Back</a>`
  if (servers === 0)
    return html`<p>Your servers already have these values. There is nothing to import.</p><div class="row">${back}</div>`
  if (isTooMany) return html`${showNotice(TOO_MANY)}<div class="row">${back}</div>`
  return html`<form class="row" method="post" action="${IMPORT_PATH}/${id}"><button class="primary" name="plan" value="${fingerprint}">Import ${countOf(servers, 'server')}</button>${back}</form>
${showPlanned([...added, ...changed], servers)}`
}

const TOO_MANY: Notice = {
  kind: 'bad',
  text: `Nothing was imported. You would have more than ${REGISTERED_MAX} servers, the limit. Delete some or import fewer.`,
}

function showPlanned(servers: readonly PlannedServer[], total: number): Html {
  const more = total - LISTED_MAX
  return html`<div class="table"><table><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Change</th></tr></thead><tbody>
${servers.slice(0, LISTED_MAX).map(showPlannedRow)}</tbody></table></div>
${more > 0 ? html`<p class="hint">${more} more ${more === 1 ? 'server is' : 'servers are'} not shown.</p>` : ''}`
}

function showPlannedRow({ name, address, fields }: PlannedServer): Html {
  const change =
    fields.length === 0
      ? pill('new', 'good')
      : html`${pill('changed', 'warn')} ${fields.map(inWords).join(', ')}`
  return html`<tr><th scope="row">${truncated(name, NAME_BYTES)}</th><td><code>${truncated(address, NAME_BYTES)}</code></td><td>${change}</td></tr>
`
}

function inWords(field: string): string {
  return field === 'listing_kind' ? 'kind' : field === 'updated_at' ? 'date' : field
}

/** The counts of a check with mistakes, and the first mistakes. */
export function showWrong({ wrong }: ReadServers, plan: PlannedImport): Html {
  const places = new Set(wrong.map(({ place }) => place)).size
  const more = wrong.length - WRONG_MAX
  const { added, changed } = plan
  return html`<p>${added.length} new, ${changed.length} changed, ${places} wrong:</p>
<ul>${wrong.slice(0, WRONG_MAX).map(({ place, message }) => html`<li>${place}: ${isolated(message)}</li>`)}${more > 0 ? html`<li>and ${more} more</li>` : ''}</ul>`
}
