import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { PAGE_SIZE, SEARCH_LENGTH_MAX } from '../../../src/servers/server-search.ts'
import { ENTRY, startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { fill } from './longest-values.ts'
import { bytesOf, PAGE_BYTES_MAX } from './page-bytes.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The largest size of each page. It does not depend on the engine.
 */

/** What the heaviest page leaves for the next change. */
const ROOM_BYTES = 100
/** With links to fifty public pages. */
const LINKED_BYTES_MAX = 56_000
/** The most that an operator can add to every page. */
const LONG_SITE = { siteName: '"'.repeat(40), contact: `https://example.com/${'x'.repeat(80)}` }
const DOCS = ['/docs', '/docs/guide', '/docs/clients', '/docs/questions']
const IMPORT = '/dashboard/servers/import'
/** The characters that take the most bytes in a field, in text and in the preview. */
const LETTERS = ['"', '&', '\u{e0100}']

for (const letter of LETTERS)
  test(`with the longest values, no page loads more than 50 kB: ${JSON.stringify(letter)}`, async (t) => {
    const email = `${'a'.repeat(242)}@example.com`
    const dashboard = await startDashboard(t, { ...LONG_SITE, operators: [email] })
    const { person, user } = await dashboard.signedIn(email)
    const organization = await fill(dashboard, user.id, letter)
    const weights: string[] = []
    const weigh = async (name: string, page: Answer) => {
      assert.ok([200, 409, 422].includes(page.status), page.body)
      const bytes = await bytesOf(person, page)
      weights.push(`${name.slice(0, 40)} ${bytes}`)
      assert.ok(bytes < PAGE_BYTES_MAX - ROOM_BYTES, `${name} has ${bytes} bytes`)
    }
    for (const path of await pagesOf(dashboard, user.id, organization, letter))
      await weigh(path, await person.get(`/dashboard/${path}`))
    for (const path of DOCS) await weigh(path, await person.get(path))
    for (const [name, page] of await answersOf(dashboard, person, user.id, organization, letter))
      await weigh(name, page)
    t.diagnostic(weights.join(', '))
  })

test('with the longest values, a list with links to public pages loads at most 56 kB', async (t) => {
  const siteUrl = 'https://www.server-listing.example.com'
  const dashboard = await startDashboard(t, { ...LONG_SITE, siteUrl })
  const { person, user } = await dashboard.signedIn()
  await fill(dashboard, user.id, '"')
  const servers = (await recordsOf(dashboard.store).listServers(user.id)).map(({ id }) => id)
  const change = { id: randomUUID(), becomes: { status: 'published' }, servers } as const
  await recordsOf(dashboard.store).changeServers(user.id, change, operatorAt(presentInstant()))
  dashboard.elapse(59 * 60_000)
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
  letter: string,
): Promise<string[]> {
  const [server] = await recordsOf(store).listServers(userId)
  const [key] = await recordsOf(store).listApiKeys(userId, 0)
  const long = encodeURIComponent(letter.repeat(SEARCH_LENGTH_MAX))
  return [
    'api',
    'servers',
    `servers?q=${encodeURIComponent(letter)}&page=2`,
    `servers?q=${long}&sort=changed&status=other&select=1`,
    'servers/import',
    'servers/new',
    `servers/${server!.id}`,
    `servers/${server!.id}/delete`,
    'organizations',
    `organizations/${organization}`,
    `organizations/${organization}?q=${long}&sort=changed&status=other&select=1`,
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
  ]
}

/** Pages after an action, with their notices, and pages with errors. */
async function answersOf(
  dashboard: TestDashboard,
  person: Person,
  userId: string,
  organization: string,
  letter: string,
): Promise<[name: string, page: Answer][]> {
  const { store } = dashboard
  const [server] = await recordsOf(store).listServers(userId)
  const edit = { ...ENTRY, name: `a${letter.repeat(63)}`, slug: 'x', seen: 'x' }
  const stale = await person.post(`/dashboard/servers/${server!.id}`, edit)
  assert.equal(stale.status, 409)
  const entry = { name: `a${letter.repeat(63)}`, address: 'a.example' }
  const entries = Array.from({ length: 50 }, (_, index) => ({
    ...entry,
    address: `a${index}.example`,
  }))
  // The page repeats a pasted text, but not a file.
  const upload = (list: object[]) => person.upload(IMPORT, {}, Buffer.from(JSON.stringify(list)))
  const wrong = entries.map(() => ({ ...entry, address: letter.repeat(200) }))
  const refused = await upload(wrong)
  assert.equal(refused.status, 422)
  const checked = await upload(entries)
  const stored = await recordsOf(store).listServers(userId)
  const changed = stored
    .filter(({ organization }) => organization === null)
    .map(({ slug }, index) => {
      const word = `a${letter.repeat(63)}`
      const words = { edition: word, status: word, version: word, listing_kind: word }
      const updated_at = '2100-01-01T00:00:00Z'
      return { ...entry, slug, address: `${index}.${'a'.repeat(60)}.example`, ...words, updated_at }
    })
  const differing = await upload([...entries, ...changed])
  const only = new URL(String(differing.headers.location), 'http://here')
  const keys = await recordsOf(store).listApiKeys(userId, 0)
  const at = presentInstant()
  for (const { id } of keys) await recordsOf(store).revokeApiKey(userId, id, operatorAt(at))
  const leaked = `notice=keys-leaked.224-5-${at}`
  return [
    ...(await afterChanges(person, 'servers', letter)),
    ...(await afterChanges(person, `organizations/${organization}`, letter)),
    ['a stale edit', stale],
    ['an import with mistakes', refused],
    ['a check', await person.get(String(checked.headers.location))],
    ['a check of changes', await person.get(`${only.pathname}?show=changed`)],
    [
      'deleted keys',
      await dashboard.visitor().get('/dashboard/api', { Cookie: `${person.cookie()}; ${leaked}` }),
    ],
  ]
}

/** The question before many servers are deleted, and the list after many are changed. */
async function afterChanges(
  person: Person,
  path: string,
  letter: string,
): Promise<[name: string, page: Answer][]> {
  const long = encodeURIComponent(letter.repeat(SEARCH_LENGTH_MAX))
  const from = `/dashboard/${path}?q=${long}&status=other&sort=changed`
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
