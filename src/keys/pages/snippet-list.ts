import { html } from 'hono/html'
import { icon } from '../../web/html/icon.ts'
import type { Html } from '../../web/html/text.ts'
import { type Block, keySettingsFor, type Snippet, snippetsFor } from './snippets.ts'

/** How to set the key's variable, of which one way is open at a time. */
export function showKeySettings(key: string): Html {
  return showList('setting', keySettingsFor(key))
}

/** A client in each language, of which one is open at a time. */
export function showSnippets(baseUrl: string): Html {
  return html`<p>JavaScript, Python and PHP keep the last list in a temporary file that only your user can read: for ten seconds, and for up to an hour while the API fails. So a page can run them for each visitor.</p>
${showList('language', snippetsFor(baseUrl))}`
}

function showList(name: string, snippets: readonly Snippet[]): Html {
  return html`${snippets.map(
    ({ label, blocks, withEnvFile }, index) =>
      html`<details name="${name}"${index === 0 ? html` open` : ''}><summary>${label}</summary>
<div class="stack">${blocks.map(showBlock)}${withEnvFile === undefined ? '' : html`<p class="hint">With the key in a file: <code>${withEnvFile}</code></p>`}</div></details>`,
  )}`
}

/** Only the script shows the button that copies. A browser must not translate code. */
export function showBlock({ id, label, code, file }: Block): Html {
  return html`<div class="code"><div><span id="${id}-label" class="label">${file === undefined ? label : html`<span class="hint">Save as</span> ${file}`}</span><button type="button" class="quiet" data-copy="${id}" hidden>${icon('copy')}<span>Copy</span><span class="unseen">: ${label}</span></button></div>
<pre id="${id}"${file === undefined ? '' : html` data-file="${file}"`} tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label" translate="no">${code}</pre></div>`
}
