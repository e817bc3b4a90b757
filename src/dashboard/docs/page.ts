import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import type { App, Dashboard } from '../context.ts'
import { showPage } from '../html/page.ts'
import { showAction } from '../html/parts.ts'
import { showSnippets } from '../keys/snippet-list.ts'
import { renderMarkdown } from './markdown.ts'

const DOCUMENT = new URL('../../../docs/api.md', import.meta.url)

/** The page about the API, from docs/api.md, with the URL of this installation. */
export function addDocsRoute(app: App, { baseUrl }: Dashboard): void {
  let rendered: string | null = null

  app.get('/dashboard/docs', (c) => {
    rendered ??= renderMarkdown(textFor(readFileSync(DOCUMENT, 'utf8'), baseUrl))
    return showPage(c, {
      title: 'API documentation',
      lead: 'One request returns your listing as JSON. Each key can make one request per second.',
      actions: showAction({ href: '/dashboard/api', label: 'Your API keys', icon: 'key' }),
      width: 'form',
      body: html`<section><h2 id="clients">Clients</h2>
<p>Each of these reads the key from an environment variable. After a 429, each waits and tries again.</p>
${showSnippets(baseUrl)}</section>
${raw(rendered)}`,
    })
  })
}

/** Without the title and the sentence that explains BASE_URL. */
function textFor(document: string, baseUrl: string): string {
  return document.slice(document.indexOf('\n## ')).replaceAll('BASE_URL', baseUrl)
}
