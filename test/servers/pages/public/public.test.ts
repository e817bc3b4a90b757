import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { startDashboard } from '../../../fixtures/dashboard.ts'
import { ask } from '../../../fixtures/requests.ts'
import { register } from './publish.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { presentInstant } from '../../../../src/model/instant.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/*
 * The public pages of servers, which everyone can see (spec 2.1, rule 3).
 */

const SITE = 'https://example.com/list'
const PAGE_BYTES_MAX = 6_000

test('everyone can see the page of a published server, in one request and without a cookie', async (t) => {
  const dashboard = await startDashboard(t, { siteUrl: SITE })
  const { person, user } = await dashboard.signedIn()
  const given = { name: 'Lagoon <3', address: 'play.lagoon.example:25570', version: '1.21.4' }
  const id = await register(dashboard, user.id, { ...given, listing_kind: 'realm', slug: 'reef' })
  const { status, headers, body } = await dashboard.visitor().get(`/servers/${id}`)
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/html; charset=UTF-8')
  assert.equal(headers['set-cookie'], undefined)
  assert.equal(headers['cache-control'], 'public, max-age=60')
  assert.match(body, /<html lang="en">/)
  assert.match(body, /<h1><bdi>Lagoon &lt;3<\/bdi><\/h1>/)
  assert.match(body, /<title>\u2068Lagoon &lt;3\u2069 · Server listing<\/title>/)
  assert.match(body, /<dt>Address<\/dt><dd translate="no"><bdi>play\.lagoon\.example:25570</)
  assert.match(body, /<dt>Edition<\/dt><dd><bdi>java</)
  assert.match(body, /<dt>Version<\/dt><dd><bdi>1\.21\.4</)
  assert.match(body, /<dt>Kind<\/dt><dd><bdi>realm</)
  assert.ok(body.includes(`<link rel="canonical" href="${SITE}/servers/${id}">`))
  assert.ok(body.includes(`<meta property="og:url" content="${SITE}/servers/${id}">`))
  assert.match(body, /<meta name="description" content="\u2068Lagoon &lt;3\u2069: connect to /)
  assert.match(body, /<meta name="robots" content="index, follow">/)
  // Absolute, because a website may show this page under its own host.
  assert.ok(body.includes('<a href="http://127.0.0.1:8081/docs">API documentation</a>'))
  assert.doesNotMatch(body, /<(form|input|img|link rel="stylesheet")|src=|@import|url\(/)
  for (const secret of [user.id, user.email]) assert.ok(!body.includes(secret))
  const asOwner = await person.get(`/servers/${id}`)
  assert.deepEqual([asOwner.body, asOwner.headers['set-cookie']], [body, undefined])
  assert.ok(Buffer.byteLength(body) < PAGE_BYTES_MAX, `${Buffer.byteLength(body)} bytes`)
  t.diagnostic(`${Buffer.byteLength(body)} bytes`)
})

test('the policy allows the style of the page and nothing else', async (t) => {
  const dashboard = await startDashboard(t, { siteUrl: SITE })
  const { user } = await dashboard.signedIn()
  const id = await register(dashboard, user.id)
  const { headers, body } = await dashboard.visitor().get(`/servers/${id}`)
  const style = /<style>(.*)<\/style>/s.exec(body)![1]!
  const policy = String(headers['content-security-policy'])
  assert.ok(policy.includes(`style-src 'sha256-${hash('sha256', style, 'base64')}'`), policy)
  assert.match(policy, /^default-src 'none'; /)
  assert.doesNotMatch(policy, /script|unsafe|self|\*/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
})

test('the structured data has the fields of the server in the terms of schema.org', async (t) => {
  const dashboard = await startDashboard(t, { siteUrl: SITE })
  const { user } = await dashboard.signedIn()
  const name = '</script><script>alert(1)</script><!--'
  const id = await register(dashboard, user.id, { name, version: '1.21.4' })
  const { body } = await dashboard.visitor().get(`/servers/${id}`)
  const [, json = '', ...rest] = body.split(/<script type="application\/ld\+json">|<\/script>/)
  assert.equal(rest.length, 1)
  assert.doesNotMatch(json, /</)
  const url = `${SITE}/servers/${id}`
  assert.deepEqual(JSON.parse(json), {
    '@context': 'https://schema.org',
    '@type': 'GameServer',
    '@id': url,
    url,
    name,
    identifier: [
      { '@type': 'PropertyValue', propertyID: 'id', value: id },
      { '@type': 'PropertyValue', propertyID: 'address', value: 'play.example.com' },
    ],
    game: { '@type': 'VideoGame', gameEdition: 'java', softwareVersion: '1.21.4' },
  })
})

test('HEAD gets the head of the page, and a form gets no answer of its own', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const path = `/servers/${await register(dashboard, user.id)}`
  const whole = await ask(dashboard.port, { path })
  const head = await ask(dashboard.port, { path, method: 'HEAD' })
  assert.deepEqual([head.status, head.body], [200, ''])
  for (const name of ['content-type', 'cache-control', 'content-security-policy'])
    assert.equal(head.headers[name], whole.headers[name])
  assert.equal((await dashboard.visitor().post(path, { name: 'x' })).status, 404)
  assert.ok(whole.body.includes('href="http://127.0.0.1:8081/"'), 'the site is the dashboard')
})

test('names and addresses that hide or turn characters are spelled out', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const name = `\u202eevil\u2066 👩‍🚀 ${'W'.repeat(60)}`
  const id = await register(dashboard, user.id, { name, edition: 'ja\u200bva' })
  const { body } = await dashboard.visitor().get(`/servers/${id}`)
  assert.ok(body.includes('\\u{202e}evil\\u{2066} 👩‍🚀 WWW'), body)
  assert.ok(body.includes('ja\\u{200b}va'))
  assert.doesNotMatch(body, /[\u202a-\u202e\u2066\u2067\u200b]/)
})

test('the dashboard links each published personal server to its public page', async (t) => {
  const dashboard = await startDashboard(t, { siteUrl: SITE })
  const { person, user } = await dashboard.signedIn()
  const published = await register(dashboard, user.id)
  const draft = await register(dashboard, user.id, { status: 'draft' })
  const organization_id = await recordsOf(dashboard.store).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const shared = await register(dashboard, user.id, { organization_id })
  const linksOf = async (path: string) =>
    [...(await person.get(path)).body.matchAll(/href="(https:\/\/example\.com[^"]*)"/g)].map(
      ([, href]) => href,
    )
  const link = `${SITE}/servers/${published}`
  assert.deepEqual(await linksOf('/dashboard/servers'), [link])
  assert.deepEqual(await linksOf(`/dashboard/servers/${published}`), [link])
  for (const path of [`servers/${draft}`, `servers/${shared}`, `organizations/${organization_id}`])
    assert.deepEqual(await linksOf(`/dashboard/${path}`), [], path)
  const off = await startDashboard(t)
  const { person: other, user: owner } = await off.signedIn()
  await register(off, owner.id)
  assert.doesNotMatch((await other.get('/dashboard/servers')).body, /\/servers\/[^"]*"><span/)
})

test('a public page has the name of the site and the contact, escaped', async (t) => {
  const dashboard = await startDashboard(t, {
    publicPages: true,
    siteName: '<b>Blöcke</b> & "Welten"',
    contact: 'https://example.com/help?a=1&b=2',
  })
  const { user } = await dashboard.signedIn()
  const id = await register(dashboard, user.id)
  const { status, headers, body } = await dashboard.visitor().get(`/servers/${id}`)
  assert.equal(status, 200)
  const shown = '&lt;b&gt;Blöcke&lt;/b&gt; &amp; &quot;Welten&quot;'
  assert.ok(body.includes(`\u2069 · ${shown}</title>`), body)
  assert.ok(body.includes(`<meta property="og:site_name" content="${shown}">`), body)
  assert.match(body, new RegExp(`<header><a href="[^"]*/">${shown}</a></header>`))
  assert.ok(body.includes('<a href="https://example.com/help?a=1&amp;b=2">Contact</a></footer>'))
  assert.equal(headers['set-cookie'], undefined)
})
