import { html } from 'hono/html'
import { type PlannedImport, sayCounts } from '../../server-import.ts'
import { type LeftOut, sayLeftOut } from '../../file/records.ts'
import type { ReadServers } from '../../file/server-file.ts'
import { REGISTERED_MAX } from '../../server.ts'
import { count, countOf } from '../../../model/text.ts'
import type { Context } from '../../../web/context.ts'
import { type Notice, showNotice, showPage } from '../../../web/html/page.ts'
import { pill } from '../../../web/html/parts.ts'
import { type Html, isolated, showLongText } from '../../../web/html/text.ts'
import { IMPORT_PATH } from './form.ts'
import { formatInstant } from '../../../model/instant.ts'
import { showFormTag } from '../../../web/html/form-field.ts'
import { FIELD_NAMES, inWords } from '../../fields.ts'
import type { PlannedServer } from '../../plan.ts'

/** Mistakes that a check lists. The counts cover all of them. */
const WRONG_MAX = 20
/** Servers of each kind that a check shows. */
const LISTED_MAX = 40
/** Servers and fields that a check shows. With these, it fits into a page of 50 kB. */
const LINES_MAX = 140

/** What the check is about. */
export interface Checked {
  text: string
  /** The tag of the form that was sent. */
  tag: string
  leftOut: LeftOut
  /** Values that the import takes as a known one of another case. */
  offered: number
}

/** What an import would do, with a form to confirm it. `replanned` says why it is shown again. */
export function showCheck(
  c: Context,
  plan: PlannedImport,
  checked: Checked,
  replanned?: string,
): Promise<Response> {
  const { leftOut, offered } = checked
  return showPage(c, {
    title: 'Check the import',
    lead: `${sayCounts(plan)}.`,
    status: replanned === undefined ? 200 : 409,
    notice: replanned === undefined ? undefined : { kind: 'bad', text: replanned },
    body: html`${showLeftOut(leftOut)}${offered === 0 ? '' : html`<p class="hint">${countOf(offered, 'value')} ${offered === 1 ? 'differs' : 'differ'} from a known edition or status only in case. The import takes the known one.</p>`}${showPlan(plan, checked)}`,
  })
}

function showLeftOut(leftOut: LeftOut): Html | '' {
  const said = sayLeftOut(leftOut, null)
  return said === null ? '' : html`<p class="hint">${said[0]!.toUpperCase()}${said.slice(1)}.</p>`
}

function showPlan(plan: PlannedImport, { text, tag }: Checked): Html {
  const { changes, unchanged, isTooMany, fingerprint, wrong } = plan
  const back = html`<a class="button" href="${IMPORT_PATH}">Back</a>`
  if (wrong.length > 0)
    return html`<p>Nothing was imported. Your servers have changed since this check:</p>${showMistakes(wrong)}<div class="row">${back}</div>`
  const none =
    unchanged === 0
      ? 'The file has no servers of yours outside organizations.'
      : 'Your servers already have these values.'
  if (changes.length === 0)
    return html`<p>${none} There is nothing to import.</p><div class="row">${back}</div>`
  if (isTooMany) return html`${showNotice(TOO_MANY)}<div class="row">${back}</div>`
  return html`<form method="post" action="${IMPORT_PATH}" enctype="multipart/form-data">${showFormTag(tag)}<textarea name="text" hidden>
${showLongText(text)}</textarea><div class="row"><button class="primary" name="plan" value="${fingerprint}">Import ${countOf(changes.length, 'server')}</button>${back}</div></form>
${showPlanned(plan)}`
}

const TOO_MANY: Notice = {
  kind: 'bad',
  text: `Nothing was imported. You would have more than ${REGISTERED_MAX} servers, the limit. Delete some or import fewer.`,
}

/** The servers that change, and then the new ones. */
function showPlanned({ changes }: PlannedImport): Html {
  const of = (isNew: boolean) =>
    changes.filter(({ before }) => (before === null) === isNew).slice(0, LISTED_MAX)
  const servers = withinLines([...of(false), ...of(true)].map(toLine))
  const more = changes.length - servers.length
  return html`<div class="table"><table><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Change</th></tr></thead><tbody>
${servers.map(showPlannedRow)}</tbody></table></div>
${more > 0 ? html`<p class="hint">${more} more ${more === 1 ? 'server is' : 'servers are'} not shown.</p>` : ''}`
}

interface Line {
  name: string
  address: string
  /** Null for a new server. */
  fields: { name: string; from: string | null; to: string | null }[] | null
}

function toLine({ before, after, isDated }: PlannedServer): Line {
  const { name, address } = after
  if (before === null) return { name, address, fields: null }
  const fields = FIELD_NAMES.flatMap((field) => {
    const [from, to] = [before[field], after[field]]
    return from === to ? [] : [{ name: inWords(field), from, to }]
  })
  if (isDated)
    fields.push({
      name: 'date',
      from: formatInstant(before.updated_at),
      to: formatInstant(after.updated_at),
    })
  return { name, address, fields }
}

/** The first servers that take LINES_MAX together. */
function withinLines(servers: readonly Line[]): readonly Line[] {
  let lines = 0
  const end = servers.findIndex(({ fields }) => {
    lines += 1 + (fields ?? []).length
    return lines > LINES_MAX
  })
  return end === -1 ? servers : servers.slice(0, end)
}

function showPlannedRow({ name, address, fields }: Line): Html {
  const change =
    fields === null
      ? pill('new', 'good')
      : html`${pill('changed', 'warn')}<ul>${fields.map(({ name, from, to }) => html`<li>${name}: ${showValue(from)} → ${showValue(to)}</li>`)}</ul>`
  return html`<tr><th scope="row">${isolated(name)}</th><td><code>${isolated(address)}</code></td><td>${change}</td></tr>
`
}

function showValue(value: string | null): Html {
  return value === null ? html`none` : html`<code>${isolated(value)}</code>`
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
