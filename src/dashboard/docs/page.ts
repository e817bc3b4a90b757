import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import type { App, Dashboard } from '../context.ts'
import { showPage } from '../html/page.ts'
import { showAction, showFilter } from '../html/parts.ts'
import { showSnippets } from '../keys/snippet-list.ts'
import { renderMarkdown } from './markdown.ts'

const DOCUMENTS = new URL('../../../docs/', import.meta.url)
const DESCRIPTION = 'openapi.json'
const DESCRIPTION_PATH = '/dashboard/docs/openapi.json'
/** What stands for the API's URL. In other documents, `BASE_URL` is the name of a variable. */
const EXAMPLE_URL = 'http://127.0.0.1:8080'

/** A document for those who call the API. */
interface DocumentPage {
  path: string
  file: string
  label: string
  title: string
  lead: string
  /** The text that stands for the URL of an installation. */
  exampleUrl: string
}

const PAGES: readonly DocumentPage[] = [
  {
    path: '/dashboard/docs',
    file: 'api.md',
    label: 'The API',
    title: 'API documentation',
    lead: 'One request returns your listing as JSON. Each key can make one request per second.',
    exampleUrl: 'BASE_URL',
  },
  {
    path: '/dashboard/docs/guide',
    file: 'integrators.md',
    label: 'Guide',
    title: 'Guide for integrators',
    lead: 'From an API key to a program that polls your listing, in about five minutes.',
    exampleUrl: EXAMPLE_URL,
  },
  {
    path: '/dashboard/docs/errors',
    file: 'errors.md',
    label: 'Answers',
    title: 'Every answer',
    lead: 'Each answer of the API: when it comes, why, and what to do.',
    exampleUrl: EXAMPLE_URL,
  },
  {
    path: '/dashboard/docs/reference',
    file: 'reference.md',
    label: 'Reference',
    title: 'Reference',
    lead: 'Every request, answer, field and header of the API.',
    exampleUrl: EXAMPLE_URL,
  },
  {
    path: '/dashboard/docs/questions',
    file: 'faq.md',
    label: 'Questions',
    title: 'Questions',
    lead: 'What people ask who write programs for the API.',
    exampleUrl: EXAMPLE_URL,
  },
]

/** The pages about the API, from docs/, with the URL of this installation. */
export function addDocsRoutes(app: App, { baseUrl }: Dashboard): void {
  for (const page of PAGES) addDocumentRoute(app, page, baseUrl)

  app.get(DESCRIPTION_PATH, (c) => {
    const description = JSON.parse(readFileSync(new URL(DESCRIPTION, DOCUMENTS), 'utf8'))
    description.servers[0].variables.base_url.default = baseUrl
    return c.body(`${JSON.stringify(description, null, 2)}\n`, 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="${DESCRIPTION}"`,
    })
  })
}

function addDocumentRoute(app: App, page: DocumentPage, baseUrl: string): void {
  const { path, title, lead, label } = page
  let rendered: string | null = null

  app.get(path, (c) => {
    rendered ??= renderMarkdown(textFor(page, baseUrl), linkFrom)
    const pages = PAGES.map((each) => ({
      href: each.path,
      label: each.label,
      isCurrent: each === page,
    }))
    return showPage(c, {
      title,
      tabTitle: label === title ? `${title} · API` : title,
      lead,
      actions: showAction({ href: '/dashboard/api', label: 'Your API keys', icon: 'key' }),
      width: 'form',
      body: html`${showFilter('Documents', pages)}
${path === PAGES[0]!.path ? showClients(baseUrl) : ''}
${raw(rendered)}`,
    })
  })
}

function showClients(baseUrl: string) {
  return html`<section><h2 id="clients">Clients</h2>
<p>Each of these reads the key from an environment variable. After a 429, each waits and tries again.</p>
${showSnippets(baseUrl)}</section>`
}

/** Without the title and the first paragraph, which the page replaces. */
function textFor({ file, exampleUrl }: DocumentPage, baseUrl: string): string {
  const document = readFileSync(new URL(file, DOCUMENTS), 'utf8')
  return document.slice(document.indexOf('\n## ')).replaceAll(exampleUrl, baseUrl)
}

/** The path of a linked document, or null if the dashboard does not have it. */
function linkFrom(target: string): string | null {
  const [file = '', heading] = target.split('#')
  if (file === DESCRIPTION) return DESCRIPTION_PATH
  const path = PAGES.find((page) => page.file === file)?.path
  if (path === undefined) return null
  return heading === undefined ? path : `${path}#${heading}`
}
