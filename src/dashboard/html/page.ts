import { html } from 'hono/html'
import type { Context } from '../context.ts'
import { ICONS_PATH, SCRIPT_PATH, STYLE_PATH } from './assets.ts'
import { icon } from './icon.ts'
import type { Html } from './text.ts'
import { showTopBar } from './top-bar.ts'

export interface Page {
  title: string
  /** A sentence below the title. */
  lead?: Html | string
  /** Links at the right of the title, the main one last. */
  actions?: Html
  body: Html
  /** `form` is a narrower column for one form, `auth` a still narrower one for signing in. */
  width?: 'form' | 'auth'
  /** What is wrong with the fields of the submitted form, by the id of the field. */
  errors?: Readonly<Record<string, string | undefined>>
  status?: 200 | 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 503
}

/** Renders a page around its body, with the sections if a user is signed in. */
export function showPage(c: Context, page: Page): Promise<Response> {
  const { title, lead, actions, body, width, errors = {}, status = 200 } = page
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${status >= 400 ? 'Error: ' : ''}${title} · Server listing</title>
<link rel="icon" href="${ICONS_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${showTopBar(c.get('path'), c.get('session')?.email, c.get('isOperator'))}
<main id="main" tabindex="-1"${width === undefined ? '' : html` class="${width}"`}>
<div class="head"><div><h1>${title}</h1>
${lead === undefined ? '' : html`<p>${lead}</p>`}</div>
${actions === undefined ? '' : html`<div class="row">${actions}</div>`}</div>
${showSummary(errors)}
${body}
</main>
</body>
</html>
`
  return Promise.resolve(c.html(document, status))
}

/** Links to the fields if several are wrong. The browser focuses the first of them by itself. */
function showSummary(errors: Readonly<Record<string, string | undefined>>): Html | '' {
  const wrong = Object.entries(errors).filter(([, message]) => message !== undefined)
  if (wrong.length < 2) return ''
  return html`<div class="notice bad" role="alert">${icon('alert')}<div><strong>${wrong.length} fields need a change</strong>
<ul>${wrong.map(([id, message]) => html`<li><a href="#${id}">${message}</a></li>`)}</ul></div></div>`
}

const NOTICE_ICONS = { good: 'check', bad: 'alert', note: 'info' } as const

/**
 * The result of an action, with a link or a form to follow it up. A bad one gets the focus, so that
 * the user is where it stands.
 */
export function notice(
  kind: 'good' | 'bad' | 'note',
  text: string | Html,
  followUp: Html | '' = '',
): Html {
  return html`<div class="notice ${kind}" ${kind === 'bad' ? html`role="alert" tabindex="-1" autofocus` : html`role="status"`}>${icon(NOTICE_ICONS[kind])}<div>${text}</div>${followUp}</div>`
}

export function showNotFound(c: Context): Promise<Response> {
  return showPage(c, {
    title: 'Not found',
    status: 404,
    width: 'form',
    body: html`<p>This page does not exist, or you don’t have access to it. <a href="/">Go to the dashboard</a></p>`,
  })
}
