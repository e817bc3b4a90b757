import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import type { Context } from '../../web/context.ts'
import { ARRIVAL_SCRIPT_PATH } from '../../web/html/assets.ts'
import { showPage } from '../../web/html/page.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { showPrefix } from './shown-key.ts'

/**
 * Whether a program has used the key. Until one has, the script loads the page at `data-poll` every
 * few seconds and takes the same element from it.
 */
export function showArrival(apiKey: ApiKey, now: Instant): Html {
  const { id, last_used_at } = apiKey
  return last_used_at === null
    ? html`<div id="arrival" role="status" data-poll="${arrivalPathOf(id)}"><p>Waiting for the first request. No program has used this key yet.</p></div>
<script src="${ARRIVAL_SCRIPT_PATH}" defer></script>`
    : html`<div id="arrival" role="status"><p><strong>The first request has arrived.</strong> A program last used this key ${showAgo(last_used_at, now)}.</p></div>`
}

export function arrivalPathOf(id: string): string {
  return `/dashboard/api/${id}/arrival`
}

export function showArrivalPage(c: Context, apiKey: ApiKey, now: Instant): Promise<Response> {
  return showPage(c, {
    title: 'The first request',
    width: 'form',
    body: html`<section class="card"><h2>${isolated(apiKey.name)}</h2><p>${showPrefix(apiKey)}</p>
${showArrival(apiKey, now)}
${
  apiKey.last_used_at === null
    ? html`<p class="hint">A request with a wrong or incomplete key gets a 401 and does not show here.</p>
<p><a class="button" href="${arrivalPathOf(apiKey.id)}">Check again</a></p>`
    : ''
}</section>
<p><a href="/dashboard/api">Back to your keys</a></p>`,
  })
}
