import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, saved } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** The work of the commands and the dashboard (spec 5.3). */
export function managementContract(open: OpenFixture): void {
  test('revoking one of five keys and issuing thirty at once leaves exactly five', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const user = await addUser(store)
    const issue = (_: unknown, index: number) =>
      issueApiKey((index % 2 === 0 ? store : second).database, user.id, `key ${index}`, OPERATOR)
    const active = async () =>
      (await recordsOf(store).listApiKeys(user.id)).filter((apiKey) => apiKey.revoked_at === null)

    await Promise.all(Array.from({ length: 30 }, issue))
    assert.equal((await active()).length, 5)
    await recordsOf(store).revokeApiKey(user.id, (await active())[2]!.id, OPERATOR)
    const issued = await Promise.all(Array.from({ length: 30 }, issue))
    assert.equal(issued.filter((one) => 'key' in one).length, 1)
    assert.equal((await active()).length, 5)
    await second.close()
  })

  test('revoked keys are listed and do not count toward the five', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store)
    for (let index = 0; index < 12; index += 1) {
      const issued = await issueApiKey(
        store.database,
        user.id,
        `key ${index}`,
        operatorAt(NOW + index),
      )
      assert.ok('key' in issued)
      assert.ok(
        await recordsOf(store).revokeApiKey(user.id, issued.apiKey.id, operatorAt(NOW + 100)),
      )
    }
    const keys = await recordsOf(store).listApiKeys(user.id)
    assert.deepEqual(
      keys.map(({ name, created_at, revoked_at }) => [name, created_at, revoked_at]),
      Array.from({ length: 12 }, (_, index) => [`key ${index}`, NOW + index, NOW + 100]),
    )
  })

  test('keys are found by their ids, of all owners or of one', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [await addUser(store), await addUser(store, 'bob@example.com')]
    const ids: string[] = []
    for (const user of [ada, ada, bob]) {
      const issued = await issueApiKey(store.database, user.id, `key ${ids.length}`, OPERATOR)
      assert.ok('key' in issued)
      ids.push(issued.apiKey.id)
    }
    await recordsOf(store).revokeApiKey(ada.id, ids[1]!, operatorAt(NOW + 1))
    const namesOf = async (userId?: string) => {
      const wanted = [...ids.slice(1), 'not an id', ids[1]!]
      return (await recordsOf(store).findApiKeys(wanted, userId)).map(({ name }) => name).toSorted()
    }
    assert.deepEqual(await namesOf(), ['key 1', 'key 2'])
    assert.deepEqual(await namesOf(ada.id), ['key 1'])
    assert.deepEqual(await recordsOf(store).findApiKeys([]), [])
  })

  test('the stored record is the issued one, with 16 characters of the key', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store)
    const issued = await issueApiKey(
      store.database,
      user.id,
      '  Discord bot \n'.trimEnd(),
      OPERATOR,
    )
    assert.ok('key' in issued)
    assert.deepEqual(await recordsOf(store).listApiKeys(user.id), [issued.apiKey])
    assert.equal(issued.apiKey.name, 'Discord bot')
    assert.equal(issued.apiKey.prefix, issued.key.slice(0, 16))
  })

  test("an import updates the server with the entry's slug, else with its address", async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com', [
      {
        name: 'one',
        address: 'one.example.com',
        slug: 'one',
        version: '1.21',
        listing_kind: 'realm',
      },
      { name: 'two', address: 'two.example.com' },
    ])
    const outcome = await recordsOf(store).saveServers(
      user.id,
      null,
      [
        { name: 'ONE', address: 'moved.example.com', slug: 'one', status: 'draft' },
        { name: 'two', address: 'two.example.com', version: '2', updated_at: 2 * NOW },
        { name: 'three', address: 'three.example.com' },
      ],
      operatorAt(NOW),
    )
    assert.deepEqual(outcome, saved({ added: 1, changed: 2 }))
    const listed = await recordsOf(store).listServers(user.id)
    const shown = listed
      .map((server) => ({ ...server, id: 'any' }))
      .toSorted((a, b) => a.name.localeCompare(b.name))
    const base = {
      id: 'any',
      organization: null,
      slug: null,
      edition: 'java',
      status: 'published',
      version: null,
      listing_kind: null,
    }
    assert.deepEqual(shown, [
      {
        ...base,
        name: 'ONE',
        address: 'moved.example.com',
        slug: 'one',
        status: 'draft',
        version: '1.21',
        listing_kind: 'realm',
        updated_at: NOW,
      },
      { ...base, name: 'three', address: 'three.example.com', updated_at: NOW },
      { ...base, name: 'two', address: 'two.example.com', version: '2', updated_at: 2 * NOW },
    ])
  })

  test('the same address in an organization is a separate server', async (t) => {
    const { store } = await open(t)
    const entry = { name: 'one', address: 'one.example.com' }
    const { user } = await addOwner(store, 'ada@example.com', [entry])
    const organization = await recordsOf(store).ensureOrganization(
      'guild',
      user.id,
      operatorAt(presentInstant()),
    )
    assert.equal(
      await recordsOf(store).ensureOrganization('guild', user.id, operatorAt(presentInstant())),
      organization,
    )
    const outcome = await recordsOf(store).saveServers(
      user.id,
      organization,
      [entry],
      operatorAt(NOW),
    )
    assert.deepEqual(outcome, saved({ added: 1 }))
    assert.deepEqual(
      new Set((await recordsOf(store).listServers(user.id)).map((server) => server.organization)),
      new Set(['guild', null]),
    )
  })
}
