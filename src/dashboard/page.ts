import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { formatInstant, type Instant } from '../listing/instant.ts'
import { ICON_PATH, SCRIPT_PATH, STYLE_PATH } from './assets.ts'
import type { Visit } from './visit.ts'

/** A piece of a page; everything that was put into it is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

export interface Page {
  title: string
  body: Html
  status?: 200 | 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 503
}

const SECTIONS = [
  ['/dashboard/api', 'API keys'],
  ['/dashboard/servers', 'Servers'],
  ['/dashboard/organizations', 'Organizations'],
  ['/dashboard/account', 'Account'],
] as const

/** The whole page around its body, with the sections for who is signed in. */
export function showPage(visit: Visit, { title, body, status = 200 }: Page): Promise<Response> {
  const session = visit.get('session')
  const isSignedIn = session !== undefined
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Server listing</title>
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/dashboard/api">
<svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
<rect x="1" y="2" width="14" height="5" rx="1.5"/><rect x="1" y="9" width="14" height="5" rx="1.5"/>
</svg>Server listing</a>
${isSignedIn ? showSections(visit.get('path'), session.email) : ''}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return Promise.resolve(visit.html(document, status))
}

function showSections(path: string, email: string): Html {
  return html`<nav aria-label="Sections"><ul>
${SECTIONS.map(([href, name]) => {
  const isHere = path === href || path.startsWith(`${href}/`)
  return html`<li><a href="${href}"${isHere ? html` aria-current="page"` : ''}>${name}</a></li>`
})}
</ul></nav>
<form class="who" method="post" action="/sign-out"><span>${shown(email)}</span><button class="quiet">Sign out</button></form>`
}

/**
 * A text of somebody's, apart from what stands around it: it cannot turn the direction of writing of the rest, and
 * what cannot be seen is spelled out.
 */
export function shown(text: string): Html {
  return html`<bdi>${visible(text)}</bdi>`
}

/** What a character is longer when it is escaped. */
const ESCAPED_BYTES: Record<string, number> = { '&': 5, '<': 4, '>': 4, '"': 6, "'": 5 }

export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Co}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** Bytes of a name in a list. */
export const NAME_BYTES = 80

/** The same, cut to so many bytes of a page: a list stays light whatever people write. */
export function shownShort(text: string, bytesMax: number): Html {
  let [cut, bytes] = ['', 0]
  for (const character of text) {
    const piece = visible(character)
    bytes += ESCAPED_BYTES[piece] ?? Buffer.byteLength(piece)
    if (bytes > bytesMax) return html`<bdi>${cut}…</bdi>`
    cut += piece
  }
  return html`<bdi>${cut}</bdi>`
}

/** An instant to the minute, as people write it. */
export function shownInstant(instant: Instant): Html {
  const text = formatInstant(instant)
  return html`<time datetime="${text.slice(0, 19)}Z">${text.slice(0, 10)} ${text.slice(11, 16)} UTC</time>`
}

/** Something that was done, or could not be: read out by a screen reader as soon as it appears. */
export function notice(kind: 'good' | 'bad' | 'note', text: string | Html): Html {
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
}

export function showNotFound(visit: Visit): Promise<Response> {
  return showPage(visit, {
    title: 'Not found',
    status: 404,
    body: html`<p>There is nothing here, or nothing of yours. <a href="/dashboard/api">To the API keys</a></p>`,
  })
}
