import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fingerprintOf } from '../../../src/servers/server.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, register, tally } from '../people.ts'
import { removeServer, setStatus } from '../../fixtures/changed-servers.ts'
import { servers } from '../../../src/servers/records/servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function editingContract(open: OpenFixture): void {
  test('an edit replaces every field and the instant', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const organization_id = await addOrganization(store, ada!)
    const id = await register(store, ada!, { slug: 'before', version: '1.20' })
    const other = await register(store, ada!, { name: 'Other' })
    const edited = fields({
      name: 'Creative',
      slug: 'after',
      address: 'new.example.com:25566',
      edition: 'bedrock',
      status: 'draft',
      version: '1.21',
      listing_kind: 'realm',
      organization_id,
    })
    assert.equal(
      await recordsOf(store).updateServer(ada!.id, id, edited, operatorAt(NOW + 7)),
      'written',
    )
    const expected = { id, ...edited, created_by: ada!.id, updated_at: NOW + 7 }
    assert.deepEqual(await recordsOf(store).findServer(ada!.id, id), expected)
    assert.equal(
      await recordsOf(store).updateServer(ada!.id, id, fields(), operatorAt(NOW + 8)),
      'written',
    )
    const back = { id, ...fields(), created_by: ada!.id, updated_at: NOW + 8 }
    assert.deepEqual(await recordsOf(store).findServer(ada!.id, id), back)
    assert.equal((await recordsOf(store).findServer(ada!.id, other))?.name, 'Other')
  })

  test("an edit can keep a server's own slug and can't take another one's", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await register(store, bob!, { slug: 'of-bob' })
    await register(store, ada!, { slug: 'taken' })
    const id = await register(store, ada!, { slug: 'own', organization_id })
    const update = (changed: Parameters<typeof fields>[0]) =>
      recordsOf(store).updateServer(ada!.id, id, fields(changed), operatorAt(NOW + 1))
    assert.equal(await update({ slug: 'own', organization_id }), 'written')
    assert.equal(await update({ slug: 'taken', organization_id }), 'written')
    const before = await recordsOf(store).findServer(ada!.id, id)
    assert.equal(await update({ slug: 'taken' }), 'slug taken')
    assert.deepEqual(await recordsOf(store).findServer(ada!.id, id), before)
    assert.equal(await update({ slug: 'of-bob' }), 'written')
  })

  test('an edit of fields that have changed since the user saw them writes nothing', async (t) => {
    const { store } = await open(t)
    const [ada, eve] = await addUsers(store, 'ada', 'eve')
    const id = await register(store, ada!, { version: '1' })
    const seen = fingerprintOf((await recordsOf(store).findServer(ada!.id, id))!)
    const edit = (version: string, now: number, wasSeen = seen) =>
      recordsOf(store).updateServer(ada!.id, id, fields({ version }), operatorAt(now), wasSeen)
    assert.equal(await edit('2', NOW + 1), 'written')
    assert.equal(await edit('3', NOW + 2), 'outdated')
    assert.equal(await edit('2', NOW + 3), 'written')
    const stored = await recordsOf(store).findServer(ada!.id, id)
    assert.deepEqual([stored?.version, stored?.updated_at], ['2', NOW + 1])
    assert.equal(await edit('3', NOW + 4, fingerprintOf(stored!)), 'written')
    assert.equal(
      await recordsOf(store).updateServer(eve!.id, id, fields(), operatorAt(NOW), seen),
      'not found',
    )
  })

  test('only the user who registered a server edits, hides or removes it', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const id = await register(store, bob!, { organization_id })
    const before = await recordsOf(store).findServer(bob!.id, id)
    for (const [userId, server] of [
      [ada!.id, id],
      [eve!.id, id],
      [bob!.id, randomUUID()],
      [bob!.id, 'nothing'],
    ] as const) {
      assert.equal(await recordsOf(store).findServer(userId, server), null)
      assert.equal(
        await recordsOf(store).updateServer(userId, server, fields(), operatorAt(NOW + 1)),
        'not found',
      )
      assert.equal(await setStatus(store.database, userId, server, 'draft', NOW + 1), false)
      assert.equal(await removeServer(store.database, userId, server, NOW), false)
    }
    assert.deepEqual(await recordsOf(store).findServer(bob!.id, id), before)
    assert.deepEqual(await recordsOf(store).findVisibleServer(ada!.id, id), before)
    assert.equal(await recordsOf(store).findVisibleServer(eve!.id, id), null)
    assert.equal(await recordsOf(store).findVisibleServer(bob!.id, 'nothing'), null)
  })

  test('only its user sees a personal server, also beside shared organizations', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const personal = await register(store, bob!)
    assert.equal(await recordsOf(store).findVisibleServer(ada!.id, personal), null)
    await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    const other = await addOrganization(store, bob!)
    const theirs = await register(store, bob!, { organization_id: other })
    assert.equal(await recordsOf(store).findVisibleServer(ada!.id, theirs), null)
  })

  statusContract(open)
}

function statusContract(open: OpenFixture): void {
  test('a status is set with its instant, on one server', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const organization_id = await addOrganization(store, ada!)
    const personal = await register(store, ada!)
    const common = await register(store, ada!, { organization_id })
    for (const [index, id] of [personal, common].entries()) {
      const before = await recordsOf(store).findServer(ada!.id, id)
      const changed = { status: 'draft', updated_at: NOW + 1 + index }
      assert.ok(await setStatus(store.database, ada!.id, id, changed.status, changed.updated_at))
      assert.deepEqual(await recordsOf(store).findServer(ada!.id, id), {
        ...before,
        ...changed,
      })
    }
    assert.equal((await recordsOf(store).findServer(ada!.id, personal))?.updated_at, NOW + 1)
  })

  test('a server keeps its status after its user leaves, until it is moved', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await addOrganization(store, bob!)
    await join(store, organization_id, ada!, bob!)
    const id = await register(store, bob!, { organization_id })
    await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    assert.equal(await setStatus(store.database, bob!.id, id, 'draft', NOW), false)
    const same = fields({ organization_id })
    assert.equal(
      await recordsOf(store).updateServer(bob!.id, id, same, operatorAt(NOW)),
      'not found',
    )
    assert.equal((await recordsOf(store).findServer(bob!.id, id))?.status, 'published')
    assert.equal(
      await recordsOf(store).updateServer(bob!.id, id, fields(), operatorAt(NOW)),
      'written',
    )
    assert.equal(await setStatus(store.database, bob!.id, id, 'draft', NOW), true)
  })

  test('a removed server is gone, and others stay', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const [id, other] = [await register(store, ada!), await register(store, ada!)]
    assert.equal(await removeServer(store.database, ada!.id, id, NOW), true)
    assert.equal(await removeServer(store.database, ada!.id, id, NOW), false)
    assert.equal(await recordsOf(store).findServer(ada!.id, id), null)
    assert.deepEqual(
      (await recordsOf(store).listServers(ada!.id)).map((server) => server.id),
      [other],
    )
  })

  test('a removal wins over five concurrent edits', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const id = await register(store, ada!)
    const edits = Array.from({ length: 5 }, (_, index) =>
      servers((index % 2 === 0 ? store : second).database).updateServer(
        ada!.id,
        id,
        fields(),
        operatorAt(NOW + index),
      ),
    )
    const [removed, ...edited] = await Promise.all([
      removeServer(second.database, ada!.id, id, NOW),
      ...edits,
    ])
    assert.equal(removed, true)
    assert.ok(edited.every((outcome) => ['written', 'not found'].includes(outcome)))
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), [])
  })

  test('exactly one of two servers that take one slug at once gets it', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const ids = [await register(store, ada!), await register(store, ada!)]
    for (let round = 0; round < 5; round += 1) {
      const given = fields({ slug: `round-${round}` })
      const written = await Promise.all([
        recordsOf(store).updateServer(ada!.id, ids[0]!, given, operatorAt(NOW)),
        recordsOf(second).updateServer(ada!.id, ids[1]!, given, operatorAt(NOW)),
      ])
      assert.deepEqual(tally(written), { written: 1, 'slug taken': 1 })
    }
  })
}
