import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import type { Context } from '../../web/context.ts'
import { type Notice, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated, isolatedText, showInstant } from '../../web/html/text.ts'
import { showKeyName } from './forms.ts'
import { showLastUse, showPrefix } from './shown-key.ts'
import { CHART_ASSETS, showUsageChart } from './usage/usage-chart.ts'
import { showSpans } from './usage/usage-span.ts'
import { KINDS, totalOf, type Usage } from './usage/usage-sums.ts'
import { SLOT_LENGTH_US } from '../../model/usage-counts.ts'

export interface KeyPage {
  /** What the form is filled in with, if it is not the name of the key. */
  name?: string | undefined
  nameError?: string
  notice?: Notice
  status?: 200 | 409 | 422
}

/** One key: its use, as a chart and as a list, and the form that renames it. */
export function showKey(
  c: Context,
  apiKey: ApiKey,
  usage: Usage,
  now: Instant,
  page: KeyPage,
): Promise<Response> {
  const { id, name, created_at, revoked_at } = apiKey
  const path = `/dashboard/api/${id}`
  return showPage(c, {
    title: isolatedText(name),
    lead: html`${showPrefix(apiKey)} · ${showLastUse(apiKey, now)} · ${revoked_at === null ? html`Issued ${showAgo(created_at, now)}` : html`Deleted ${showAgo(revoked_at, now)}`}`,
    ...(revoked_at === null
      ? {
          actions: html`${showAction({ href: `${path}/replace`, label: 'Replace…' })}${showAction({ href: `${path}/delete`, label: 'Delete…' })}`,
        }
      : {}),
    status: page.status ?? 200,
    notice: page.notice,
    width: 'form',
    body: html`${CHART_ASSETS}<section>${showSpans(path, usage.span)}
<div class="card">${showUsageChart(usage)}</div></section>
${apiKey.last_used_at === null && revoked_at === null ? showNoUse(path) : ''}
${revoked_at === null ? showRename(apiKey, page) : ''}
${totalOf(usage.sums) === 0 ? '' : showValues(usage)}
<p><a href="/dashboard/api">Back to your keys</a></p>`,
  })
}

/** What a user checks who has given a new key to a program. */
function showNoUse(path: string): Html {
  return html`<section class="card"><h2>No request yet</h2>
<p>No program has used this key. A request with a wrong or incomplete key gets a 401 and does not show here.</p>
<p><a class="button" href="${path}">Check again</a></p></section>`
}

function showRename({ id, name: stored }: ApiKey, { name = stored, nameError }: KeyPage): Html {
  return html`<form class="card" method="post" action="/dashboard/api/${id}"><h2>Rename</h2>
<input type="hidden" name="was" value="${stored}">
${showKeyName(name, 'Programs that use the key notice nothing.', nameError)}
<button>Rename</button></form>`
}

/** The values of the chart for every reader, newest first and without empty bars. */
function showValues({ span, from, bars }: Usage): Html {
  const length = span.slotsPerBar * SLOT_LENGTH_US
  const rows = bars
    .map((bar, index) => ({ bar, at: from + index * length }))
    .filter(({ bar }) => totalOf(bar) > 0)
    .toReversed()
  const kinds = KINDS.filter((kind) => rows.some(({ bar }) => bar[kind] > 0))
  return html`<details class="card"><summary id="values-of">Requests per ${span.bar}</summary>
<table class="values" id="values" aria-labelledby="values-of"><thead><tr><th scope="col">From</th>${kinds.map((kind) => html`<th scope="col">${HEADS[kind]}</th>`)}</tr></thead>
<tbody>${rows.map(({ bar, at }) => html`<tr><th scope="row">${showInstant(at)}</th>${kinds.map((kind) => html`<td>${count(bar[kind])}</td>`)}</tr>`)}</tbody></table></details>`
}

const HEADS = { answered: 'Answered', limited: 'Rate-limited (429)', revoked: 'Refused (401)' }

export const RENAMED_ELSEWHERE = (name: string): Notice => ({
  kind: 'bad',
  text: html`Nothing was saved: another tab or program has renamed this key to ${isolated(name)}. Rename it again to replace that name.`,
})
