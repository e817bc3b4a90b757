import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { User } from '../../../src/accounts/user.ts'
import { decodeText } from '../../../src/model/input.ts'
import { readServers } from '../../../src/servers/file/server-file.ts'
import { serverFile } from '../../../src/servers/file/write-servers.ts'
import type { ServerFields, ServerRecord } from '../../../src/servers/server.ts'
import { inspectEntry, readValue, type ServerEntry } from '../../../src/servers/server-entry.ts'
import type { Store } from '../../../src/database/store.ts'
import type { OpenFixture } from '../fixture.ts'
import { addUsers, fields, register, saved } from '../people.ts'
import { importServers } from '../../fixtures/changed-servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** Small sets of values, so that servers share names, addresses and instants. */
const valid = (field: string) => (value: string) =>
  'entry' in inspectEntry({ name: 'a', address: 'a', [field]: value })
const text = (field: string, ...common: string[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...common) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }).filter(valid(field)) },
  )
const orNull = (field: string, ...common: string[]) => fc.option(text(field, ...common))
const SERVER = fc.record({
  name: text('name', '★ ★', 'Lagoon', ' =1+2, "x" ', "O'Brien;", '0042', 'null', 'sep=;'),
  address: fc.constantFrom('play.example.com', 'play.example.com:25566', '[2001:db8::1]:19132'),
  slug: fc.option(fc.oneof(fc.constantFrom('lagoon', '0042', '1E5'), fc.uuid().map(String))),
  // An earlier version stored spaces around values, and words for no value.
  edition: text('edition', 'java', 'java', 'bedrock', ' java', 'NULL', ' N/A'),
  status: text('status', 'published', 'draft', 'archived', 'N/A', '\\N '),
  version: orNull('version', '1.20', '1.2', '1E5', '=', '1.2\u00a0', 'N/A'),
  listing_kind: orNull('listing_kind', 'realm'),
  at: fc.integer({ min: 0, max: 2 }),
})
/** No file can name an edition that is a word for no value. */
const NAMED = SERVER.map((server) => ({ ...server, edition: readValue(server.edition) ?? 'java' }))
type Random = Partial<ServerFields> & { at: number }

/** An export is an import that changes nothing. */
export function roundTripsContract(open: OpenFixture): void {
  test('an import of an export changes nothing, whatever is stored', async (t) => {
    const { store } = await open(t)
    let users = 0
    await fc.assert(
      fc.asyncProperty(fc.array(SERVER, { maxLength: 12 }), async (servers) => {
        users += 1
        const [user] = await addUsers(store, `user-${users}`)
        await fill(store, user!, servers)
        const before = await recordsOf(store).listServers(user!.id)
        for (const format of ['json', 'csv'] as const) {
          const exported = write(before, format)
          const entries = await entriesOf(exported)
          const unchanged = saved({ unchanged: servers.length })
          const { planServers, saveServers } = recordsOf(store)
          const { fingerprint: _, ...planned } = await planServers(user!.id, null, entries, NOW, {
            prunes: true,
          })
          const present = servers.length
          assert.deepEqual(planned, { ...unchanged, changes: [], absent: [], present })
          assert.deepEqual(
            await saveServers(user!.id, null, entries, operatorAt(NOW + 9)),
            unchanged,
          )
          await importServers(store.database, user!.id, entries, NOW + 9)
          const after = await recordsOf(store).listServers(user!.id)
          assert.deepEqual(after, before)
          assert.equal(write(after, format), exported)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('an export without editions or slugs means the servers that it was made from', async (t) => {
    const { store } = await open(t)
    let users = 0
    const left = fc.record({
      slug: fc.constantFrom('kept', 'left out', 'new'),
      edition: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(NAMED, { maxLength: 12 }), left, fc.boolean(), async (...args) => {
        const [servers, { slug, edition }, isEdited] = args
        users += 1
        const [user] = await addUsers(store, `user-${users}`)
        await fill(store, user!, servers)
        const before = await recordsOf(store).listServers(user!.id)
        const entries = await entriesOf(write(before, 'json'))
        for (const [index, entry] of entries.entries()) {
          if (slug === 'left out') delete entry.slug
          if (slug === 'new') entry.slug ||= `new-${index}`
          if (edition) delete entry.edition
          if (isEdited && index % 2 === 0) entry.version = 'edited'
        }
        const { planServers } = recordsOf(store)
        const planned = await planServers(user!.id, null, entries, NOW, { prunes: true })
        assert.deepEqual([planned.added, planned.wrong, planned.absent], [0, [], []])
        await recordsOf(store).saveServers(user!.id, null, entries, operatorAt(NOW + 9))
        const after = await recordsOf(store).listServers(user!.id)
        assert.deepEqual(identities(after, slug), identities(before, slug))
        if (!isEdited && slug !== 'new') assert.deepEqual(after, before)
      }),
      { numRuns: 60 },
    )
  })
}

/** What no row of such a file changes. A row with a new slug gives it to a server without one. */
function identities(servers: readonly (ServerRecord & { id: string })[], slugs: string) {
  return new Map(
    servers.map(({ id, name, address, edition, slug }) => [
      id,
      [name, address, edition, slugs === 'new' && (slug?.startsWith('new-') ?? true) ? null : slug],
    ]),
  )
}

/** Registers the servers as forms do. A slug that is taken is left out. */
async function fill(store: Store, user: User, servers: readonly Random[]): Promise<void> {
  const taken = new Set<string>()
  for (const { at, ...server } of servers) {
    const slug = server.slug && !taken.has(server.slug) ? server.slug : null
    if (slug !== null) taken.add(slug)
    await register(store, user, fields({ ...server, slug }), NOW + at)
  }
}

function write(servers: readonly ServerRecord[], format: 'json' | 'csv'): string {
  const { add, end } = serverFile(format)
  return add(servers) + end()
}

async function entriesOf(exported: string): Promise<ServerEntry[]> {
  const decoded = decodeText(Buffer.from(exported))
  assert.ok('text' in decoded)
  const read = await readServers(decoded.text)
  assert.ok('entries' in read, JSON.stringify(read))
  assert.deepEqual(read.wrong, [])
  return read.entries
}
