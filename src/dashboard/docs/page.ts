import { readdirSync, readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import type { App, Dashboard } from '../../web/context.ts'
import { DOCS_STYLE_PATH } from '../../web/html/assets.ts'
import { showPage } from '../../web/html/page.ts'
import { type Action, showAction, showFilter } from '../../web/html/parts.ts'
import type { Heading, Rendered } from './markdown.ts'
import { showKeySettings, showSnippets } from '../../keys/pages/snippets.ts'

const DOCUMENTS = new URL('../../../docs/', import.meta.url)
const DESCRIPTION = 'openapi.json'
const DESCRIPTION_PATH = '/docs/openapi.json'

/** A document for those who call the API. */
interface DocumentPage {
  path: string
  file: string
  label: string
  title: string
  lead: string
}

const PAGES: readonly DocumentPage[] = [
  {
    path: '/docs',
    file: 'api.md',
    label: 'The API',
    title: 'API documentation',
    lead: 'One request returns your listing as JSON. Each key can make one request per second.',
  },
  {
    path: '/docs/guide',
    file: 'integrators.md',
    label: 'Guide',
    title: 'Guide for integrators',
    lead: 'From an API key to a program that polls your listing, in about five minutes.',
  },
  {
    path: '/docs/clients',
    file: 'clients.md',
    label: 'Programs',
    title: 'Programs to copy',
    lead: 'A client in each language, with the address of this API.',
  },
  {
    path: '/docs/questions',
    file: 'faq.md',
    label: 'Questions',
    title: 'Questions',
    lead: 'What people ask who write programs for the API.',
  },
]

/** The pages about the API, from docs/, with the URLs of this installation. For everyone. */
export function addDocsRoutes(app: App, dashboard: Dashboard): void {
  for (const page of PAGES) addDocumentRoute(app, page, dashboard)
  for (const file of readdirSync(new URL('examples/', DOCUMENTS))) addExampleRoute(app, file)

  app.get(DESCRIPTION_PATH, (c) => {
    const description = JSON.parse(readFileSync(new URL(DESCRIPTION, DOCUMENTS), 'utf8'))
    description.servers[0].url = dashboard.baseUrl
    return c.body(`${JSON.stringify(description, null, 2)}\n`, 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="${DESCRIPTION}"`,
      // Editors of OpenAPI in browsers load it. It is the same for every visitor.
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
  })
}

function addExampleRoute(app: App, file: string): void {
  app.get(`/docs/examples/${file}`, (c) =>
    c.body(readFileSync(new URL(`examples/${file}`, DOCUMENTS), 'utf8'), 200, {
      'Content-Type': 'text/plain; charset=utf-8',
    }),
  )
}

function addDocumentRoute(app: App, page: DocumentPage, dashboard: Dashboard): void {
  const { path, title, lead, label } = page
  let rendered: Rendered | null = null

  app.get(path, async (c) => {
    // Loaded on demand: no other page needs the renderer.
    const { renderMarkdown } = await import('./markdown.ts')
    rendered ??= renderMarkdown(textFor(page, dashboard), linkFrom)
    const hasClients = page.file === 'clients.md'
    const pages = PAGES.map((each) => ({
      href: each.path,
      label: each.label,
      isCurrent: each === page,
    }))
    return showPage(c, {
      title,
      tabTitle: label === title ? `${title} · API` : title,
      lead,
      actions: showAction(c.get('session') === undefined ? SIGN_IN : API_KEYS),
      width: 'docs',
      body: html`<link rel="stylesheet" href="${DOCS_STYLE_PATH}">
${showFilter('Documents', pages)}
<div class="beside">${showContents([...(hasClients ? [CLIENTS] : []), ...rendered.headings])}
<div class="stack">${hasClients ? showClients(dashboard.baseUrl) : ''}
${raw(rendered.html)}</div></div>`,
    })
  })
}

const SIGN_IN: Action = { href: '/sign-in', label: 'Sign in', icon: 'user' }
const API_KEYS: Action = { href: '/dashboard/api', label: 'Your API keys', icon: 'key' }

/** Links to the sections, closed above the text, or open beside it in a wide window. */
function showContents(headings: readonly Heading[]) {
  return html`<details class="card"><summary>On this page</summary>
<nav aria-label="On this page"><ul>${headings.map(({ id, label }) => html`<li><a href="#${id}">${raw(label)}</a></li>`)}</ul></nav></details>`
}

const CLIENTS: Heading = { id: 'clients', label: 'Clients' }

function showClients(baseUrl: string) {
  return html`<section><h2 id="${CLIENTS.id}">${CLIENTS.label}</h2>
<p>Each of these reads the key from an environment variable. Set it in one of these ways.</p>
${showKeySettings('svc_live_…')}
<p>Then run one of these in the same shell.</p>
${showSnippets(baseUrl)}</section>`
}

/**
 * Without the title and the first paragraph, which the page replaces. The documents have the
 * default URLs.
 */
function textFor({ file }: DocumentPage, { baseUrl, dashboardUrl }: Dashboard): string {
  const document = readFileSync(new URL(file, DOCUMENTS), 'utf8')
  return document
    .slice(document.indexOf('\n## '))
    .replaceAll('http://127.0.0.1:8080', baseUrl)
    .replaceAll('http://127.0.0.1:8081', dashboardUrl)
}

/** The path of a linked document, or null if the dashboard does not have it. */
function linkFrom(target: string): string | null {
  const [file = '', heading] = target.split('#')
  if (file === DESCRIPTION) return DESCRIPTION_PATH
  if (file.startsWith('examples/')) return `/docs/${file}`
  const path = PAGES.find((page) => page.file === file)?.path
  if (path === undefined) return null
  return heading === undefined ? path : `${path}#${heading}`
}
