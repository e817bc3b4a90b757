import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { REGISTERED_MAX } from '../../../src/servers/server.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, fields, join, register, tally } from '../people.ts'
import { servers } from '../../../src/servers/records/servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function registeringContract(open: OpenFixture): void {
  test('a server is stored as registered, with its user and instant', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const given = fields({
      slug: 'survival',
      edition: 'bedrock',
      status: 'draft',
      version: '1.21',
      listing_kind: 'realm',
    })
    const id = randomUUID()
    assert.equal(
      await recordsOf(store).insertServer(ada!.id, id, given, operatorAt(NOW + 1)),
      'written',
    )
    const stored = { id, ...given, created_by: ada!.id, updated_at: NOW + 1 }
    assert.deepEqual(await recordsOf(store).findServer(ada!.id, id), stored)
    assert.deepEqual(await recordsOf(store).findVisibleServer(ada!.id, id), stored)
  })

  test('a form that is sent twice registers once, whatever else would refuse it', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const id = randomUUID()
    const given = fields({ slug: 'survival' })
    const written = await Promise.all(
      [store, second, store, second].map((one) =>
        recordsOf(one).insertServer(ada!.id, id, given, operatorAt(NOW)),
      ),
    )
    assert.deepEqual(tally(written), { written: 1, known: 3 })
    const elsewhere = fields({ organization_id: randomUUID() })
    assert.equal(
      await recordsOf(store).insertServer(ada!.id, id, elsewhere, operatorAt(NOW)),
      'known',
    )
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 1)
  })

  test("a slug is taken only by the same user's servers in the same organization", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await join(store, id, ada!, bob!)
    const places = [null, id, other]
    for (const organization_id of places)
      await register(store, ada!, { slug: 'a', organization_id })
    for (const organization_id of places) {
      const given = fields({ slug: 'a', organization_id })
      assert.equal(
        await recordsOf(store).insertServer(ada!.id, randomUUID(), given, operatorAt(NOW)),
        'slug taken',
      )
      await register(store, ada!, { slug: 'b', organization_id })
      await register(store, ada!, { slug: null, organization_id })
    }
    for (const organization_id of [null, id])
      await register(store, bob!, { slug: 'a', organization_id })
  })

  test('exactly one of ten servers with one slug registered at once is stored', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const written = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        servers((index % 2 === 0 ? store : second).database).insertServer(
          ada!.id,
          randomUUID(),
          fields({ slug: 'survival' }),
          operatorAt(NOW),
        ),
      ),
    )
    assert.deepEqual(tally(written), { written: 1, 'slug taken': 9 })
  })

  test('only members register servers under an organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await addOrganization(store, eve!)
    await join(store, id, ada!, bob!)
    await register(store, bob!, { organization_id: id })
    for (const [user, organization_id] of [
      [eve!, id],
      [ada!, randomUUID()],
      [ada!, 'nothing'],
    ] as const) {
      const given = fields({ organization_id })
      assert.equal(
        await recordsOf(store).insertServer(user.id, randomUUID(), given, operatorAt(NOW)),
        'not found',
      )
    }
    assert.deepEqual(await recordsOf(store).listServers(eve!.id), [])
  })

  limitContract(open)
}

function limitContract(open: OpenFixture): void {
  test('a user registers at most REGISTERED_MAX servers, also at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await recordsOf(store).saveServers(
      ada!.id,
      null,
      entries(REGISTERED_MAX - 203),
      operatorAt(NOW),
    )
    await recordsOf(store).saveServers(ada!.id, id, entries(200), operatorAt(NOW))
    const written = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        servers((index % 2 === 0 ? store : second).database).insertServer(
          ada!.id,
          randomUUID(),
          fields({ organization_id: index % 3 === 0 ? id : null }),
          operatorAt(NOW),
        ),
      ),
    )
    assert.deepEqual(tally(written), { written: 3, 'too many': 9 })
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, REGISTERED_MAX)
    await register(store, bob!)
  })

  test('the limit of servers is checked before the slug and after the membership', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const known = await register(store, ada!, { slug: 'taken' })
    await recordsOf(store).saveServers(ada!.id, null, entries(REGISTERED_MAX - 1), operatorAt(NOW))
    const insert = (id: string, changed: Parameters<typeof fields>[0]) =>
      recordsOf(store).insertServer(ada!.id, id, fields(changed), operatorAt(NOW))
    const place = { organization_id: randomUUID() }
    assert.equal(await insert(known, place), 'known')
    assert.equal(await insert(randomUUID(), place), 'not found')
    assert.equal(await insert(randomUUID(), { slug: 'taken' }), 'too many')
    assert.equal(await insert(randomUUID(), {}), 'too many')
  })
}

function entries(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: 'Survival',
    address: `s${index}.example.com`,
  }))
}
