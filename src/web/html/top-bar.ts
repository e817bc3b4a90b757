import { html } from 'hono/html'
import { icon } from './icon.ts'
import { type Html, isolated } from './text.ts'

const SECTIONS = [
  ['/dashboard/servers', 'Servers', 'server'],
  ['/dashboard/api', 'API keys', 'key'],
  ['/dashboard/organizations', 'Organizations', 'people'],
  ['/docs', 'Docs', 'book'],
] as const
const ACCOUNT = '/dashboard/account'
const OPERATOR = '/dashboard/operator'

/** The bar above every page. Only a signed-in user, who has a name, sees sections. */
export function showTopBar(
  path: string,
  title: string,
  name: string | undefined,
  isOperator: boolean | undefined,
): Html {
  return html`<header class="top"><div>
<a class="brand" href="/">${icon('server')}${title}</a>
${name === undefined ? '' : html`${showSections(path)}${showMenu(path, name, isOperator === true)}`}
</div></header>`
}

function showSections(path: string): Html {
  return html`<nav aria-label="Sections"><ul>
${SECTIONS.map(([href, name, symbol]) => html`<li><a href="${href}"${currentIf(isBelow(path, href))}>${icon(symbol)}${name}</a></li>`)}
</ul></nav>`
}

function showMenu(path: string, name: string, isOperator: boolean): Html {
  return html`<details class="menu"><summary>${icon('user')}<span><span class="unseen">Account: </span>${isolated(name)}</span>${icon('down')}</summary>
<div><p class="hint">Signed in as ${isolated(name)}</p>
<a class="button quiet" href="${ACCOUNT}"${currentIf(isBelow(path, ACCOUNT))}>Account</a>
${isOperator ? html`<a class="button quiet" href="${OPERATOR}"${currentIf(isBelow(path, OPERATOR))}>Operator</a>` : ''}
<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form></div></details>`
}

function isBelow(path: string, href: string): boolean {
  return path === href || path.startsWith(`${href}/`)
}

function currentIf(isHere: boolean): Html | '' {
  return isHere ? html` aria-current="page"` : ''
}
