import { relative } from 'node:path/posix'
import type { Group } from './navigation.ts'
import { escapeHtml, type Heading } from './markdown.ts'

/*
 * A page of the site. All its links are relative, so that it opens from the file system.
 */

export const STYLE_PATH = 'style.css'
export const ICON_PATH = 'icon.svg'

export interface Page {
  /** The source, relative to the root of the repository. */
  source: string
  title: string
  headings: readonly Heading[]
  body: string
}

export interface Navigation {
  groups: readonly Group[]
  titleOf(source: string): string
}

/** The page of a source: `docs/README.md` is `docs/index.html`, other files keep their names. */
export function pathOfPage(source: string): string {
  if (!source.endsWith('.md')) return `${source}${source.endsWith('/') ? 'index' : ''}.html`
  return source.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')
}

/** How the page of one source names another file of the site. */
export function hrefBetween(source: string, target: string): string {
  const from = pathOfPage(source)
  return relative(from.includes('/') ? from.replace(/\/[^/]*$/, '') : '.', target)
}

export function showPage({ source, title, headings, body }: Page, navigation: Navigation): string {
  const href = (target: string) => escapeHtml(hrefBetween(source, target))
  const sections = headings.filter(({ level }) => level === 2 || level === 3)
  const contents = sections.length > 1 ? showContents(sections) : ''
  const name = source === 'README.md' ? 'Server listing' : `${title} · Server listing`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="${href(ICON_PATH)}" type="image/svg+xml">
<link rel="stylesheet" href="${href(STYLE_PATH)}">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><div><a class="brand" href="${href('index.html')}"><img src="${href(ICON_PATH)}" alt="">Server listing</a><a class="to-pages" href="#pages">All pages</a></div></header>
<div class="site">
<main id="main" tabindex="-1">
<article>
${contents === '' ? body : body.replace('</h1>', `</h1>\n<details class="contents"><summary>On this page</summary>${contents}</details>`)}</article>
${showNeighbors(source, navigation)}
</main>
${contents === '' ? '' : `<aside aria-label="On this page"><p class="label">On this page</p>${contents}</aside>`}
<nav id="pages" aria-label="All pages">
${navigation.groups.map((group) => showGroup(group, source, navigation)).join('\n')}
</nav>
</div>
</body>
</html>
`
}

function showContents(sections: readonly Heading[]): string {
  const items = sections.map(
    ({ level, text, anchor }) =>
      `<li${level === 3 ? ' class="sub"' : ''}><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  )
  return `<ul>${items.join('\n')}</ul>`
}

/** Long groups are closed, unless the page is in them. */
const OPEN_MAX = 12

function showGroup({ title, paths }: Group, source: string, navigation: Navigation): string {
  const links = paths.map((path) => {
    const current = path === source ? ' aria-current="page"' : ''
    const href = escapeHtml(hrefBetween(source, pathOfPage(path)))
    return `<li><a href="${href}"${current}>${escapeHtml(navigation.titleOf(path))}</a></li>`
  })
  const list = `<ul>${links.join('\n')}</ul>`
  if (paths.length <= OPEN_MAX) return `<p class="label">${title}</p>${list}`
  const open = paths.includes(source) ? ' open' : ''
  return `<details${open}><summary class="label">${title}</summary>${list}</details>`
}

/** Links to the page before and the page after this one, in the order of the navigation. */
function showNeighbors(source: string, { groups, titleOf }: Navigation): string {
  const order = groups.flatMap(({ paths }) => paths)
  const at = order.indexOf(source)
  const link = (path: string | undefined, label: string) =>
    path === undefined
      ? '<span></span>'
      : `<a href="${escapeHtml(hrefBetween(source, pathOfPage(path)))}"><span>${label}</span>${escapeHtml(titleOf(path))}</a>`
  return `<nav class="neighbors" aria-label="Neighboring pages">${link(order[at - 1], 'Before')}${link(order[at + 1], 'Next')}</nav>`
}
