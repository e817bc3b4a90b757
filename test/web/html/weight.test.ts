import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { PAGE_SIZE } from '../../../src/servers/server-search.ts'
import { ENTRY, startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { fill } from './usual-values.ts'
import { bytesOf, PAGE_BYTES_MAX } from './page-bytes.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The size of each page with values of a usual length. It does not depend on the engine.
 */

/** With links to fifty public pages. */
const LINKED_BYTES_MAX = 57_000
const DOCS = ['/docs', '/docs/guide', '/docs/clients', '/docs/questions']
const IMPORT = '/dashboard/servers/import'

test('with usual values, no page loads more than 50 kB', async (t) => {
  const email = 'ada@lagoon.example.com'
  const site = { siteName: 'Lagoon', contact: 'https://lagoon.example.com/help' }
  const dashboard = await startDashboard(t, { ...site, operators: [email] })
  const { person, user } = await dashboard.signedIn(email)
  const organization = await fill(dashboard, user.id)
  const weights: string[] = []
  const weigh = async (name: string, page: Answer) => {
    assert.ok([200, 409, 422].includes(page.status), page.body)
    const bytes = await bytesOf(person, page)
    weights.push(`${name.slice(0, 40)} ${bytes}`)
    assert.ok(bytes < PAGE_BYTES_MAX, `${name} has ${bytes} bytes`)
  }
  for (const path of await pagesOf(dashboard, user.id, organization))
    await weigh(path, await person.get(`/dashboard/${path}`))
  for (const path of DOCS) await weigh(path, await person.get(path))
  for (const [name, page] of await answersOf(dashboard, person, user.id, organization))
    await weigh(name, page)
  t.diagnostic(weights.join(', '))
})

test('a list with links to public pages loads at most 57 kB', async (t) => {
  const siteUrl = 'https://www.server-listing.example.com'
  const dashboard = await startDashboard(t, { siteUrl })
  const { person, user } = await dashboard.signedIn()
  await fill(dashboard, user.id)
  const page = await person.get('/dashboard/servers?status=published&sort=changed&page=2')
  assert.equal(page.body.split(`${siteUrl}/servers/`).length - 1, PAGE_SIZE)
  const bytes = await bytesOf(person, page)
  t.diagnostic(`${bytes} bytes`)
  assert.ok(bytes <= LINKED_BYTES_MAX, `${bytes} bytes`)
})

async function pagesOf(
  { store }: TestDashboard,
  userId: string,
  organization: string,
): Promise<string[]> {
  const [server] = await recordsOf(store).listServers(userId)
  const [key] = await recordsOf(store).listApiKeys(userId, 0)
  return [
    'api',
    'servers',
    `servers?q=lagoon&page=2`,
    `servers?q=lagoon&sort=changed&status=published&select=1`,
    'servers/import',
    'servers/new',
    `servers/${server!.id}`,
    `servers/${server!.id}/delete`,
    'organizations',
    `organizations/${organization}`,
    `organizations/${organization}?q=lagoon&sort=changed&status=published&select=1`,
    `organizations/${organization}/members`,
    'api?span=7d',
    'api?span=30d',
    `api/${key!.id}?span=7d`,
    `api/${key!.id}`,
    `api/${key!.id}/delete`,
    `api/${key!.id}/replace`,
    'account',
    'account/delete',
    'operator',
    'operator/users',
  ]
}

/** Pages after an action, with their notices, and pages with errors. */
async function answersOf(
  dashboard: TestDashboard,
  person: Person,
  userId: string,
  organization: string,
): Promise<[name: string, page: Answer][]> {
  const { store } = dashboard
  const [server] = await recordsOf(store).listServers(userId)
  const edit = { ...ENTRY, name: 'Lagoon Survival', slug: 'x', seen: 'x' }
  const stale = await person.post(`/dashboard/servers/${server!.id}`, edit)
  assert.equal(stale.status, 409)
  const entry = { name: 'Lagoon Survival', address: 'a.example' }
  const entries = Array.from({ length: 50 }, (_, index) => ({
    ...entry,
    address: `a${index}.example`,
  }))
  // The page repeats a pasted text, but not a file.
  const upload = (list: object[]) => person.upload(IMPORT, {}, Buffer.from(JSON.stringify(list)))
  const wrong = entries.map(() => ({ ...entry, address: 'not an address' }))
  const refused = await upload(wrong)
  assert.equal(refused.status, 422)
  const checked = await upload(entries)
  const stored = await recordsOf(store).listServers(userId)
  const changed = stored
    .filter(({ organization }) => organization === null)
    .map(({ slug }, index) => {
      const words = {
        edition: 'bedrock',
        status: 'draft',
        version: '1.21.5',
        listing_kind: 'lobby',
      }
      const updated_at = '2100-01-01T00:00:00Z'
      return { ...entry, slug, address: `${index}.lagoon.example`, ...words, updated_at }
    })
  const differing = await upload([...entries, ...changed])
  const keys = await recordsOf(store).listApiKeys(userId, 0)
  const at = presentInstant()
  for (const { id } of keys) await recordsOf(store).revokeApiKey(userId, id, operatorAt(at))
  const leaked = `notice=keys-leaked.224-5-${at}`
  return [
    ...(await afterChanges(person, 'servers')),
    ...(await afterChanges(person, `organizations/${organization}`)),
    ['a stale edit', stale],
    ['an import with mistakes', refused],
    ['a check', withoutText(checked)],
    ['a check of changes', withoutText(differing)],
    [
      'deleted keys',
      await dashboard.visitor().get('/dashboard/api', { Cookie: `${person.cookie()}; ${leaked}` }),
    ],
  ]
}

/** A check without the text that it carries. */
function withoutText(page: Answer): Answer {
  assert.equal(page.status, 200, page.body)
  assert.match(page.body, /<textarea name="text" hidden>/)
  return { ...page, body: page.body.replace(/(<textarea[^>]*>)[^<]*/, '$1') }
}

/** The question before many servers are deleted, and the list after many are changed. */
async function afterChanges(person: Person, path: string): Promise<[name: string, page: Answer][]> {
  const from = `/dashboard/${path}?q=lagoon&status=published&sort=changed`
  const rows = /name="rows" value="([^"]+)"/.exec((await person.get(from)).body)![1]!
  const selected = new URLSearchParams({ rows, from, form: path })
  for (let row = 0; row < PAGE_SIZE; row += 1) selected.set(String(row), 'on')
  const change = (to: string) =>
    person.send('POST', '/dashboard/servers/change', `${selected.toString()}&to=${to}`)
  const question = await change('deleted')
  const done = await change('draft')
  assert.equal(done.headers.location, from)
  const after = await person.get(from)
  assert.match(after.body, /and 48 more are now drafts/)
  return [
    [`${path}: the question`, question],
    [`${path}: a notice`, after],
  ]
}
