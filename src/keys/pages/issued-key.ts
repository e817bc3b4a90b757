import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Context } from '../../web/context.ts'
import { showNotice, showPage } from '../../web/html/page.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { showPrefix } from './shown-key.ts'
import { KEY_VARIABLE, showBlock, showKeySettings, showSnippets } from './snippets.ts'

interface IssuedKey {
  key: string
  apiKey: ApiKey
  /** The key that the new one replaces. */
  replaced: ApiKey | null
}

/**
 * The only page that shows the key. No cache may store it, and a script removes the key when the
 * user leaves.
 */
export function showIssuedKey(
  c: Context,
  { key, apiKey, replaced }: IssuedKey,
  baseUrl: string,
): Promise<Response> {
  return showPage(c, {
    title: 'Your new key',
    width: 'form',
    body: html`${showNotice(COPY_NOW)}
<section class="card" data-secret><h2>${isolated(apiKey.name)}</h2>
${showBlock({ id: 'key', label: 'API key', code: key })}
<p>Your program reads it from the environment variable <code>${KEY_VARIABLE}</code>. Set it in one of these ways.</p>
${showKeySettings(key)}
<p class="hint">Keep keys on your servers, never in a web page or an app that you distribute.</p></section>
<section class="card"><h2>Use it</h2>
<p>Run one of these in the same shell. A key can make one request per second, and each of these keeps to that. <a href="/docs" target="_blank">API documentation, in a new tab</a></p>
${showSnippets(baseUrl)}</section>
<section class="card"><h2>The first request</h2>
<p>The page of the key says when a program last used it. <a href="/dashboard/api/${apiKey.id}" target="_blank">Check now, in a new tab</a></p></section>
${replaced === null ? '' : showReplaced(replaced)}
<p><a class="button primary" href="/dashboard/api">Done</a></p>`,
  })
}

const COPY_NOW = {
  kind: 'note',
  text: 'Copy the key now. This is the only time it is shown: we do not store it. If you lose it, delete it and issue another.',
} as const

function showReplaced(apiKey: ApiKey): Html {
  const { id, name } = apiKey
  return html`<section class="card"><h2>The old key still works</h2>
<p>${isolated(name)} (${showPrefix(apiKey)}) works until you delete it. Give your programs the new key first.</p>
<p><a href="/dashboard/api/${id}/delete">Delete the old key…</a></p></section>`
}
