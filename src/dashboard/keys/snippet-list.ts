import { html } from 'hono/html'
import { icon } from '../html/icon.ts'
import type { Html } from '../html/text.ts'
import { type Snippet, snippetsFor } from './snippets.ts'

/** A client in each language, of which one is open at a time. */
export function showSnippets(baseUrl: string): Html {
  return html`${snippetsFor(baseUrl).map(showSnippet)}`
}

/** Copies the text of the element with this id. It works with script only, which shows it. */
export function copyButton(id: string, label: string): Html {
  return html`<button type="button" class="quiet" data-copy="${id}" hidden>${icon('copy')}<span>${label}</span></button>`
}

function showSnippet({ id, label, code }: Snippet, index: number): Html {
  return html`<details name="language"${index === 0 ? html` open` : ''}><summary>${label}</summary>
<div class="code"><div><span id="${id}-label" class="label">${label}<span class="unseen"> client</span></span>${copyButton(id, `Copy ${label}`)}</div>
<pre id="${id}" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label">${code}</pre></div></details>`
}
