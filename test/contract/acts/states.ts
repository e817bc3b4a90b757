import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { addOrganization, addUsers, join, register } from '../people.ts'
import { applyAll, declare, exported, linesOf, newKey, plan } from './declared.ts'
import { formatInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const SURVIVAL = { name: 'Survival', address: 'play.example.com', slug: 'survival' }

/** What a state file declares, applied and read again. */
export function statesContract(open: OpenFixture): void {
  test('applying twice plans no change the second time, and each change is audited', async (t) => {
    const { store } = await open(t)
    const { key, fields } = newKey({ last_used_at: null })
    const state = declare({
      organizations: [
        {
          slug: 'red',
          name: 'Red',
          members: [
            { email: 'bob@example.com', role: 'member' },
            { email: 'ada@example.com', role: 'owner' },
          ],
        },
      ],
      users: [
        {
          email: 'ada@example.com',
          keys: [fields],
          servers: [SURVIVAL, { ...SURVIVAL, organization: 'red' }],
        },
        { email: 'bob@example.com' },
        { email: 'cid@example.com' },
      ],
    })
    const planned = await plan(store, state)
    assert.deepEqual(linesOf(planned), [
      '+ organization red "Red"',
      '+ user ada@example.com',
      '+ member ada@example.com of red (owner)',
      `+ key ada@example.com "bot" (${fields.prefix}…)`,
      '+ server ada@example.com "Survival" (play.example.com)',
      '+ server ada@example.com "Survival" (play.example.com) of red',
      '+ user bob@example.com',
      '+ member bob@example.com of red (member)',
      '+ user cid@example.com',
    ])
    assert.deepEqual(await recordsOf(store).listUserRecords(), [])
    assert.deepEqual(await applyAll(store, state), [])
    assert.deepEqual(linesOf(await plan(store, state)), [])
    const before = await exported(store)
    await applyAll(store, declare(before))
    assert.deepEqual(await exported(store), before)
    const granted = await claim(store, key)
    assert.ok(granted.outcome === 'granted')
    assert.deepEqual(
      granted.rows?.map(({ name }) => name),
      ['Survival'],
    )
    const audited = (await recordsOf(store).listAudit(99)).map(
      ({ action, email }) => `${action} ${email}`,
    )
    assert.deepEqual(audited.toSorted(), [
      'key imported ada@example.com',
      'member added ada@example.com',
      'member added bob@example.com',
      'organization made ada@example.com',
      'servers imported ada@example.com',
      'user added ada@example.com',
      'user added bob@example.com',
      'user added cid@example.com',
    ])
  })

  test('what is there changes to what the file declares, and absent fields stay', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const red = await addOrganization(store, ada!, { slug: 'red', name: 'Red' })
    await join(store, red, ada!, bob!)
    const id = await register(store, ada!, { slug: 'a', version: '1.21' })
    const moved = await register(store, ada!, { slug: 'b', organization_id: red })
    const issued = await issueKey(store, ada!, 'old name')
    const [{ key_hash } = {}] = (await exported(store)).put_keys
    const state = declare({
      organizations: [
        {
          slug: 'red',
          name: 'Redder',
          members: [
            { email: ada!.email, role: 'member' },
            { email: bob!.email, role: 'owner' },
          ],
        },
      ],
      users: [
        {
          email: ada!.email,
          keys: [{ name: 'new name', key_hash }],
          servers: [
            { slug: 'a', name: 'A', address: 'a.example.com' },
            {
              id: moved,
              slug: 'b',
              name: 'Survival',
              address: 'play.example.com',
              organization: null,
            },
          ],
        },
        { email: bob!.email },
      ],
    })
    const lines = linesOf(await plan(store, state))
    assert.deepEqual(lines.slice(0, 3), [
      '~ organization red name "Red" → "Redder"',
      '~ member ada@example.com of red (owner → member)',
      `~ key ada@example.com "old name" (${issued.key.slice(0, 16)}…): name "old name" → "new name"`,
    ])
    assert.match(lines[3]!, /^~ server .*: name "Survival" → "A", address .* → "a\.example\.com"$/)
    assert.match(lines[4]!, /^~ server .*: red → personal$/)
    assert.equal(lines[5], '~ member bob@example.com of red (member → owner)')
    assert.equal(lines.length, 6)
    await applyAll(store, state)
    assert.deepEqual(linesOf(await plan(store, state)), [])
    const { put_servers, put_keys, put_members } = await exported(store)
    const a = put_servers.find((server) => server.id === id)!
    assert.deepEqual([a.name, a.version, a.updated_at], ['A', '1.21', formatInstant(NOW)])
    assert.equal(put_servers.find((server) => server.id === moved)!.organization, null)
    assert.deepEqual([put_keys[0]!.id, put_keys[0]!.name], [issued.id, 'new name'])
    assert.equal(put_members.find(({ email }) => email === bob!.email)!.role, 'owner')
    assert.equal((await claim(store, issued.key)).outcome, 'granted')
  })
}
