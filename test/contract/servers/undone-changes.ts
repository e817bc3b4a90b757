import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { REGISTERED_MAX, type ServerFields } from '../../../src/servers/server.ts'
import type { Becomes } from '../../../src/servers/server-change.ts'
import type { Store } from '../../../src/database/store.ts'
import type { User } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, register } from '../people.ts'
import { changeAll, importServers } from '../../fixtures/changed-servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** Undoing changes of servers. */
export function undoneChangesContract(open: OpenFixture): void {
  test('changes that are undone one after another leave everything as it was', async (t) => {
    const { store } = await open(t)
    let users = 0
    const change = fc.record({ kind: fc.constantFrom(...KINDS), rows: fc.subarray([0, 1, 2, 3]) })
    const changes = fc.array(change, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(changes, async (some) => {
        users += 1
        const [user] = await addUsers(store, `user-${users}`)
        const scene = await openScene(store, user!)
        const before = await recordsOf(store).listServers(user!.id)
        const ids: string[] = []
        for (const [index, { kind, rows }] of some.entries()) {
          const chosen = rows.map((row) => scene.servers[row]!)
          const id = await CHANGES[kind](scene, chosen, NOW + 10 + index)
          if (id !== null) ids.push(id)
        }
        for (const id of ids.toReversed()) {
          const undone = await undo(store, user!, id)
          assert.equal(undone?.restored, undone?.changed.length)
        }
        assert.deepEqual(await recordsOf(store).listServers(user!.id), before)
      }),
      { numRuns: 10 },
    )
  })

  test('undoing leaves each server that another tab has changed since, and no other', async (t) => {
    const { store } = await open(t)
    for (const kind of KINDS)
      for (const [since, meddle] of Object.entries(SINCE)) {
        // A deleted server can only miss its slug, and others keep theirs.
        if ((kind === 'deletion') !== (since === 'registered')) continue
        const [user] = await addUsers(store, `${kind}-${since}`.replaceAll(' ', '-'))
        const scene = await openScene(store, user!)
        const [one, other] = scene.servers.slice(kind === 'move back' ? 2 : 0) as [string, string]
        const former = await listed(store, user!, other)
        const id = await CHANGES[kind](scene, kind === 'edit' ? [one] : [one, other], NOW + 10)
        await meddle(scene, one)
        const left = await listed(store, user!, one)
        const undone = await undo(store, user!, id!)
        const label = `${kind}, ${since}`
        assert.equal(undone?.restored, undone!.changed.length - 1, label)
        assert.deepEqual(await listed(store, user!, one), left, label)
        assert.deepEqual(await listed(store, user!, other), former, label)
      }
  })

  test('undoing an import removes what it added and restores what it changed', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 150 }, (_, index) => ({
      name: `number ${index}`,
      address: `s${index}.example.com`,
      slug: `s-${index}`,
      updated_at: NOW - index,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, OPERATOR)
    const before = await recordsOf(store).listServers(ada!.id)
    const changed = entries.map(({ name, address, slug }, index) =>
      index % 3 === 0
        ? { name, slug: `new-${index}`, address: `new${index}.example.com` }
        : { name, address, slug, edition: 'bedrock', version: '2' },
    )
    const id = await importServers(store.database, ada!.id, changed, NOW + 1)
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 200)
    const undone = await undo(store, ada!, id)
    assert.deepEqual([undone?.changed.length, undone?.restored], [150, 150])
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), before)
  })

  test('undoing twice undoes once, also at the same moment, and only for its user', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const server = await register(store, ada!)
    const draft = { status: 'draft' } as const
    const { id } = await changeAll(store.database, ada!.id, [server], draft, NOW + 1)
    assert.equal(await undo(store, bob!, id), null)
    assert.equal((await listed(store, ada!, server))?.status, 'draft')
    const undone = await Promise.all(
      [store, second, store].map((one) => undo(one, ada!, id, NOW + 2)),
    )
    for (const one of undone) assert.equal(one?.restored, 1)
    const edited = fields({ status: 'draft' })
    await recordsOf(store).updateServer(ada!.id, server, edited, operatorAt(NOW + 1))
    assert.equal((await undo(store, ada!, id))?.restored, 1)
    assert.equal((await listed(store, ada!, server))?.status, 'draft')
  })

  placesContract(open)
}

/** Servers that have no place to return to. */
function placesContract(open: OpenFixture): void {
  test('a server stays if its slug is taken, or if the user has left its organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const place = { taken: {}, free: {}, left: { organization_id } }
    for (const becomes of [null, { organization_id: await addOrganization(store, bob!) }]) {
      const ids = await Promise.all(
        Object.entries(place).map(([slug, one]) => register(store, bob!, { slug, ...one })),
      )
      const { id } = await changeAll(store.database, bob!.id, ids, becomes, NOW + 1)
      const holder = await register(store, bob!, { slug: 'taken' })
      await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
      assert.equal((await undo(store, bob!, id))?.restored, 1)
      const personal = await recordsOf(store).previewListing(bob!.id)
      assert.deepEqual(new Set(personal.map(({ slug }) => slug)), new Set(['free', 'taken']))
      await join(store, organization_id, ada!, bob!)
      await changeAll(store.database, bob!.id, [...ids, holder], null, NOW + 3)
    }
  })

  test('a former member cannot undo a change of a server under the organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const ids = [await register(store, bob!, { organization_id }), await register(store, bob!)]
    const draft = { status: 'draft' } as const
    const { id } = await changeAll(store.database, bob!.id, ids, draft, NOW + 1)
    await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    assert.equal((await undo(store, bob!, id))?.restored, 1)
    assert.equal((await listed(store, bob!, ids[0]!))?.status, 'draft')
    assert.equal((await listed(store, bob!, ids[1]!))?.status, 'published')
  })

  test('undoing a deletion keeps to REGISTERED_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const ids = [await register(store, ada!), await register(store, ada!)]
    const { id } = await changeAll(store.database, ada!.id, ids, null, NOW)
    const entries = Array.from({ length: REGISTERED_MAX - 1 }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, OPERATOR)
    assert.equal((await undo(store, ada!, id))?.restored, 1)
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, REGISTERED_MAX)
  })

  test('undoing a deletion brings back servers beyond REGISTERED_MAX, but no more than before', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const ids = [await register(store, ada!), await register(store, ada!)]
    const entries = Array.from({ length: REGISTERED_MAX }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, OPERATOR)
    const { id } = await changeAll(store.database, ada!.id, ids, null, NOW)
    const [entry] = entries
    await recordsOf(store).saveServers(
      ada!.id,
      null,
      [{ ...entry!, address: 'new.example.com' }],
      OPERATOR,
    )
    assert.equal((await undo(store, ada!, id))?.restored, 1)
    const listed = await recordsOf(store).listServers(ada!.id)
    assert.equal(listed.length, REGISTERED_MAX + 2)
  })

  test('undoing leaves a server whose former id another user has', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const server = await register(store, ada!)
    const { id } = await changeAll(store.database, ada!.id, [server], null, NOW)
    await recordsOf(store).insertServer(bob!.id, server, fields(), OPERATOR)
    assert.equal((await undo(store, ada!, id))?.restored, 0)
    assert.notEqual(await listed(store, bob!, server), undefined)
  })
}

interface Scene {
  store: Store
  user: User
  organization: string
  /** Two personal servers and two of an organization. */
  servers: string[]
}

async function openScene(store: Store, user: User): Promise<Scene> {
  const organization = await addOrganization(store, user)
  const ids: string[] = []
  for (let row = 0; row < 4; row += 1) {
    const organization_id = row < 2 ? null : organization
    const values = { slug: `s-${row}`, address: `s${row}.example.com`, organization_id }
    ids.push(await register(store, user, values, NOW - row))
  }
  return { store, user, organization, servers: ids }
}

/** Makes a change and returns its id, or null if there was nothing to change. */
type Change = (scene: Scene, servers: string[], now: number) => Promise<string | null>

const become =
  (becomes: (scene: Scene) => Becomes): Change =>
  async (scene, ids, now) => {
    const { store, user } = scene
    const wanted = { id: randomUUID(), becomes: becomes(scene), servers: ids }
    const made = await recordsOf(store).changeServers(user.id, wanted, operatorAt(now))
    return 'reason' in made ? null : made.id
  }

const CHANGES = {
  status: become(() => ({ status: 'draft' })),
  deletion: become(() => null),
  move: become(({ organization }) => ({ organization_id: organization })),
  'move back': become(() => ({ organization_id: null })),
  async edit({ store, user }, [server], now) {
    const found = server && (await recordsOf(store).findServer(user.id, server))
    if (!found) return null
    const { id, created_by: _, updated_at: __, ...values } = found
    const change = randomUUID()
    const edited = { ...values, name: 'edited', slug: null, version: '2' }
    const { updateServer } = recordsOf(store)
    await updateServer(user.id, id, edited, operatorAt(now), undefined, change)
    return change
  },
  /** Changes the personal ones of these servers, and adds servers. */
  async import({ store, user }, ids, now) {
    const all = await recordsOf(store).listServers(user.id)
    const known = all.filter(
      ({ id, slug, organization }) => ids.includes(id) && slug && organization === null,
    )
    const changed = known.map(({ slug, address }) => ({ name: 'imported', slug: slug!, address }))
    const added = { name: 'added', address: `added${now}.example.com` }
    return importServers(store.database, user.id, [...changed, added], now)
  },
} satisfies Record<string, Change>

const KINDS = Object.keys(CHANGES) as (keyof typeof CHANGES)[]

/** What another tab does to a server between a change and its undoing. */
const SINCE: Record<string, (scene: Scene, server: string) => Promise<unknown>> = {
  edited: (scene, server) => update(scene, server, { name: 'edited since' }),
  renamed: (scene, server) => update(scene, server, { slug: 'since' }),
  archived: ({ store, user }, server) =>
    changeAll(store.database, user.id, [server], { status: 'archived' }, NOW + 20),
  deleted: ({ store, user }, server) =>
    changeAll(store.database, user.id, [server], null, NOW + 20),
  async moved({ store, user }, server) {
    const organization_id = await addOrganization(store, user)
    await changeAll(store.database, user.id, [server], { organization_id }, NOW + 20)
  },
  /** Takes the slug of the first server. */
  registered: ({ store, user }) => register(store, user, { slug: 's-0' }),
}

async function update(
  { store, user }: Scene,
  server: string,
  values: Partial<ServerFields>,
): Promise<void> {
  const found = await recordsOf(store).findServer(user.id, server)
  const edited = { ...found!, ...values }
  await recordsOf(store).updateServer(user.id, server, edited, operatorAt(NOW + 20))
}

async function listed(store: Store, user: User, server: string) {
  const all = await recordsOf(store).listServers(user.id)
  return all.find(({ id }) => id === server)
}

const undo = (store: Store, user: User, id: string, now = NOW + 30) =>
  recordsOf(store).undoChange(user.id, id, operatorAt(now))
