import { html } from 'hono/html'
import type { ApiKey } from '../listing/api-key.ts'
import { type Html, notice, shown, showPage } from './page.ts'
import type { Visit } from './visit.ts'

/** The one page that a key is on. Nobody may keep it, and a script empties it when the browser leaves it. */
export function showIssuedKey(
  visit: Visit,
  { key, apiKey }: { key: string; apiKey: ApiKey },
  baseUrl: string,
): Promise<Response> {
  const url = `${baseUrl}/v1/servers`
  return showPage(visit, {
    title: 'Your new key',
    body: html`${notice('note', 'Copy the key now: it is shown this once and is kept nowhere. If it is lost, delete it and issue another.')}
<section class="card secret" data-secret>
<h2>${shown(apiKey.name)}</h2>
${showSecret('key', 'The key', key)}
${showSecret('curl', 'Try it', `curl -H 'Authorization: Bearer ${key}' '${url}'`)}
${showSecret('client', 'In a program', clientFor(url))}
<p class="hint">The program reads the key from its environment: <code>SERVER_LISTING_KEY</code>.
Keep keys on your servers, never in a page or an app that others can open.</p>
</section>
<p><a class="button" href="/dashboard/api">I have it: to all keys</a></p>`,
  })
}

function showSecret(id: string, label: string, text: string): Html {
  return html`<div class="field"><div class="row"><span id="${id}-label" class="label">${label}</span><button type="button" class="quiet" data-copy="${id}" hidden>Copy<span class="unseen">: ${label}</span></button></div>
<pre id="${id}" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label">${text}</pre></div>`
}

function clientFor(url: string): string {
  return `const answer = await fetch('${url}', {
  headers: { Authorization: \`Bearer \${process.env.SERVER_LISTING_KEY}\` },
})
if (!answer.ok) throw new Error(\`\${answer.status}\`)
const { servers } = await answer.json()`
}
