import { html } from 'hono/html'
import {
  type ChangedField,
  type PlannedImport,
  type PlannedServer,
  type ImportCounts,
  sayCounts,
} from '../../server-import.ts'
import type { ReadServers } from '../../file/server-file.ts'
import { REGISTERED_MAX } from '../../server.ts'
import { count, countOf } from '../../../model/text.ts'
import type { Context } from '../../../web/context.ts'
import { type Notice, showNotice, showPage } from '../../../web/html/page.ts'
import { pill } from '../../../web/html/parts.ts'
import { type Html, isolated, NAME_BYTES, truncated } from '../../../web/html/text.ts'
import { IMPORT_PATH } from './form.ts'
import { readLeftOut } from './left-out.ts'

/** Mistakes that a check lists. The counts cover all of them. */
const WRONG_MAX = 20
/** Bytes of a value that changes, for `truncated`. */
const VALUE_BYTES = 60

/** What an import would do, or has done, with a button to confirm it. */
export function showCheck(
  c: Context,
  id: string,
  plan: PlannedImport | ImportCounts,
  notice?: Notice,
): Promise<Response> {
  const isSaved = !('fingerprint' in plan)
  return showPage(c, {
    title: isSaved ? 'Import finished' : 'Check the import',
    lead: `${sayCounts(plan)}.`,
    status: notice === undefined ? 200 : 409,
    notice,
    body: isSaved ? showDone() : html`${showLeftOut(c)}${showPlan(id, plan)}`,
  })
}

function showLeftOut(c: Context): Html | '' {
  const text = readLeftOut(c)
  return text === null ? '' : html`<p class="hint">${text}</p>`
}

function showDone(): Html {
  return html`<p>This import is saved. Sending it again changes nothing. <a href="/dashboard/servers">Go to your servers</a></p>`
}

function showPlan(id: string, plan: PlannedImport): Html {
  const { added, changed, unchanged, listed, isTooMany, fingerprint, wrong } = plan
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
${showPlanned(listed, servers)}`
}

const TOO_MANY: Notice = {
  kind: 'bad',
  text: `Nothing was imported. You would have more than ${REGISTERED_MAX} servers, the limit. Delete some or import fewer.`,
}

function showPlanned(servers: readonly PlannedServer[], total: number): Html {
  const more = total - servers.length
  return html`<div class="table"><table><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Change</th></tr></thead><tbody>
${servers.map(showPlannedRow)}</tbody></table></div>
${more > 0 ? html`<p class="hint">${more} more ${more === 1 ? 'server is' : 'servers are'} not shown.</p>` : ''}`
}

function showPlannedRow({ name, address, fields }: PlannedServer): Html {
  const change =
    fields.length === 0
      ? pill('new', 'good')
      : html`${pill('changed', 'warn')}<ul>${fields.map(showField)}</ul>`
  return html`<tr><th scope="row">${truncated(name, NAME_BYTES)}</th><td><code>${truncated(address, NAME_BYTES)}</code></td><td>${change}</td></tr>
`
}

function showField({ name, from, to }: ChangedField): Html {
  return html`<li>${inWords(name)}: ${showValue(from)} → ${showValue(to)}</li>`
}

function showValue(value: string | null): Html {
  return value === null ? html`none` : html`<code>${truncated(value, VALUE_BYTES)}</code>`
}

function inWords(field: string): string {
  return field === 'listing_kind' ? 'kind' : field === 'updated_at' ? 'date' : field
}

/** The counts of a check with mistakes, and the first mistakes. */
export function showWrong(wrong: ReadServers['wrong'], plan: PlannedImport): Html {
  const places = new Set(wrong.map(({ place }) => place)).size
  const { added, changed } = plan
  return html`<p>${count(added)} new, ${count(changed)} changed, ${count(places)} wrong:</p>
${showMistakes(wrong)}`
}

/** The first mistakes of a file in which reading has ended early. */
export function showFirstWrong({ wrong }: ReadServers): Html {
  return html`<p>Many servers are wrong. Reading ended at ${wrong.at(-1)!.place}, after ${countOf(wrong.length, 'mistake')}:</p>
${showMistakes(wrong)}`
}

function showMistakes(wrong: ReadServers['wrong']): Html {
  const more = wrong.length - WRONG_MAX
  return html`<ul>${wrong.slice(0, WRONG_MAX).map(({ place, message }) => html`<li>${place}: ${isolated(message)}</li>`)}${more > 0 ? html`<li>and ${more} more</li>` : ''}</ul>`
}
