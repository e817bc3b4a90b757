import { hash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { escapeInvisible } from '../../model/characters/invisible.ts'
import type { Server } from '../../model/server-row.ts'
import type { App, Dashboard, Site } from '../../web/context.ts'
import { PUBLIC_STYLE } from '../../web/html/assets.ts'
import { showNotFound } from '../../web/html/page.ts'
import { titleOf } from '../../web/html/site.ts'
import { type Html, isolated, isolatedText } from '../../web/html/text.ts'
import { servers } from '../records/servers.ts'

export const PUBLIC_PATH = '/servers/:id'

/** How long browsers and shared caches may show a server after its owner has unpublished it. */
const CACHE_SECONDS = 60

/**
 * The page has its style in itself, so that a website can pass this one path on. It has no script,
 * and the policy allows none: structured data is not a script.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', PUBLIC_STYLE, 'base64')}'`,
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/**
 * The public page of a server (spec 2.1, rule 3). It reads neither session nor cookies, and any
 * server that is not published gets the page for what does not exist.
 */
export function addPublicRoute(
  app: App,
  { database, dashboardUrl, site }: Dashboard,
  siteUrl: string,
): void {
  app.get(PUBLIC_PATH, async (c) => {
    const server = await servers(database).findPublishedServer(c.req.param('id'))
    if (server === null) return showNotFound(c)
    c.header('Cache-Control', `public, max-age=${CACHE_SECONDS}`)
    c.header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    return c.html(showServer(server, site, { siteUrl, dashboardUrl }))
  })
}

function showServer(
  server: Server,
  site: Site,
  { siteUrl, dashboardUrl }: { siteUrl: string; dashboardUrl: string },
): Html {
  const { name, address, edition, version, listing_kind } = server
  const url = `${siteUrl}/servers/${server.id}`
  const title = isolatedText(name)
  const description = `${title}: connect to ${isolatedText(address)}. Edition ${isolatedText(edition)}${version === null ? '' : `, version ${isolatedText(version)}`}.`
  const facts = [
    ['Edition', edition],
    ['Version', version],
    ['Kind', listing_kind],
  ] as const
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${titleOf(site)}</title>
<meta name="description" content="${description}">
<meta name="robots" content="index, follow">
<link rel="canonical" href="${url}">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
${site.name === null ? '' : html`<meta property="og:site_name" content="${site.name}">`}
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<style>${raw(PUBLIC_STYLE)}</style>
<script type="application/ld+json">${raw(structuredData(server, url))}</script>
</head>
<body>
<header><a href="${siteUrl}/">${site.name ?? new URL(siteUrl).host}</a></header>
<main>
<h1>${isolated(name)}</h1>
<dl><div class="address"><dt>Address</dt><dd translate="no">${isolated(address)}</dd></div>
${facts.map(([label, value]) => (value === null ? '' : html`<div><dt>${label}</dt><dd>${isolated(value)}</dd></div>`))}</dl>
</main>
<footer><a href="${dashboardUrl}/docs">API documentation</a>
${site.contact === null ? '' : html`<a href="${site.contact}">Contact</a>`}</footer>
</body>
</html>
`
}

/**
 * The server in the terms of schema.org, which has none for the address of a game server. Without
 * `<`, because no text may end the element.
 */
function structuredData({ id, name, address, edition, version }: Server, url: string): string {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'GameServer',
    '@id': url,
    url,
    name: escapeInvisible(name),
    identifier: [
      { '@type': 'PropertyValue', propertyID: 'id', value: id },
      { '@type': 'PropertyValue', propertyID: 'address', value: escapeInvisible(address) },
    ],
    game: {
      '@type': 'VideoGame',
      gameEdition: escapeInvisible(edition),
      ...(version === null ? {} : { softwareVersion: escapeInvisible(version) }),
    },
  }
  return JSON.stringify(data).replaceAll('<', '\\u003c')
}
