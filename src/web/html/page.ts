import { html, raw } from 'hono/html'
import type { Context } from '../context.ts'
import { ICONS_PATH, SCRIPT_PATH, STYLE_PATH } from './assets.ts'
import { icon } from './icon.ts'
import { showContact, titleOf } from './site.ts'
import type { Html } from './text.ts'
import { showTopBar } from './top-bar.ts'

export interface Page {
  title: string
  /** The title of the browser's tab, if it is another one. */
  tabTitle?: string
  /** A sentence below the title. */
  lead?: Html | string
  /** What came of the last action. It stands above the body, and the title begins with it. */
  notice?: Notice | undefined
  /** Links at the right of the title, the main one last. */
  actions?: Html
  body: Html
  /**
   * `form` is a narrower column for one form, `auth` a still narrower one for signing in. `docs` is
   * as wide as `form`, with room for a list beside it.
   */
  width?: 'form' | 'auth' | 'docs'
  /** True if the session of the request ended with its action. */
  isForVisitor?: boolean
  /** What is wrong with the fields of the submitted form, by the id of the field. */
  errors?: Readonly<Record<string, string | undefined>>
  status?: 200 | 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 503
}

/** Renders a page around its body, with the sections if a user is signed in. */
export async function showPage(c: Context, page: Page): Promise<Response> {
  const { title, lead, actions, body, width, notice: said, errors = {}, status = 200 } = page
  const { tabTitle = title } = page
  const site = c.get('site')
  const user = page.isForVisitor ? undefined : c.get('session')?.name
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${status >= 400 ? 'Error: ' : said === undefined ? '' : await showInTitle(said)}${tabTitle} · ${titleOf(site)}</title>
<link rel="icon" href="${ICONS_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${showTopBar(c.req.path, titleOf(site), user, c.get('isOperator'))}
<main id="main" tabindex="-1"${width === undefined ? '' : html` class="${width}"`}>
<div class="head"><div><h1>${title}</h1>
${lead === undefined ? '' : html`<p>${lead}</p>`}</div>
${actions === undefined ? '' : html`<div class="row">${actions}</div>`}</div>
${showSummary(errors)}
${said === undefined ? '' : showNotice(said)}
${body}
${showContact(site)}
</main>
</body>
</html>
`
  return c.html(document, status)
}

/** Links to the fields if several are wrong. The browser focuses the first of them by itself. */
function showSummary(errors: Readonly<Record<string, string | undefined>>): Html | '' {
  const wrong = Object.entries(errors).filter(([, message]) => message !== undefined)
  if (wrong.length < 2) return ''
  return html`<div class="notice bad" role="alert">${icon('alert')}<div><strong>${wrong.length} fields need a change</strong>
<ul>${wrong.map(([id, message]) => html`<li><a href="#${id}">${message}</a></li>`)}</ul></div></div>`
}

const NOTICE_ICONS = { good: 'check', bad: 'alert', note: 'info' } as const

/** The result of an action. */
export interface Notice {
  kind: 'good' | 'bad' | 'note'
  text: string | Html
  /** What follows the text. The title leaves it out. */
  detail?: Html
  /** A link or a form for what comes next. */
  followUp?: Html
  /** True if it stays in sight on a page that opens further down. */
  isSticky?: boolean
}

/**
 * A bad notice gets the focus, so that the user is where it stands and a screen reader reads it.
 * The title tells the others. None is a live region as well, which would be read a second time.
 */
export function showNotice({ kind, text, detail, followUp, isSticky }: Notice): Html {
  return html`<div class="notice ${kind}${isSticky ? ' done' : ''}"${kind === 'bad' ? html` tabindex="-1" autofocus` : ''}>${icon(NOTICE_ICONS[kind])}<div>${text}${detail ?? ''}</div>${followUp ?? ''}</div>`
}

/**
 * The text of a notice without its elements, since screen readers announce a new page by its title.
 * A title has characters that isolate names, in the place of elements.
 */
async function showInTitle({ text }: Notice): Promise<Html> {
  const rendered = String(await html`${text}`)
    .replace(/<bdi[^>]*>/g, '\u2068')
    .replaceAll('</bdi>', '\u2069')
  return html`${raw(rendered.replace(/<[^>]*>/g, '').replace(/\.$/, ''))} · `
}

/** For a form whose record is gone, or is not the user's. Both get the same answer. */
export function showUnchanged(
  c: Context,
  reason: Html,
  status: 404 | 409 = 404,
): Promise<Response> {
  return showPage(c, {
    title: 'Nothing was changed',
    status,
    width: 'form',
    body: html`<p>${reason}</p>`,
  })
}

export function showNotFound(c: Context): Promise<Response> {
  return showPage(c, {
    title: 'Not found',
    status: 404,
    width: 'form',
    body: html`<p>This page does not exist, or you don’t have access to it. <a href="/">Go to the dashboard</a></p>`,
  })
}
