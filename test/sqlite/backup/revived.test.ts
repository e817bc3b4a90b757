import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/listing/instant.ts'
import { stateJson } from '../../../src/listing/state/write-state.ts'
import { applyAll, declare } from '../../contract/states/declared.ts'
import { claim } from '../../contract/keys/claim.ts'
import { addOwner } from '../../fixtures/service.ts'
import { files } from './files.ts'

test('a state brings back no user and no key that the journal has as revoked', async (t) => {
  const { faults, serve } = files(t)
  const state = await serve(async (store) => {
    const { user, keyId } = await addOwner(store, 'ada@example.com')
    const { user: bob } = await addOwner(store, 'bob@example.com')
    const exported = declare(stateJson(await store.readState()))
    await store.revokeApiKey(user.id, keyId, presentInstant())
    for (const one of [user, bob]) await store.removeUser(one.id)
    return exported
  })
  await serve(async (store) => {
    const planned = await store.planState(state, { prune: false, now: presentInstant() })
    assert.ok('complaints' in planned)
    assert.deepEqual(
      planned.complaints.map(({ place, message }) => `${place} ${message}`),
      [
        'users[0].id is the id of a user that was removed; leave it out to add a new user',
        'users[1].id is the id of a user that was removed; leave it out to add a new user',
        'users[0].keys[0].key_hash is of a key that was revoked here, and stays revoked; issue a new key',
      ],
    )
  })
  assert.deepEqual(faults, [])
})

test('a key that a state revokes stays revoked in an older file', async (t) => {
  const { serve, backUp, restore } = files(t)
  const key = await serve(async (store) => {
    const { user, key: issued } = await addOwner(store, 'ada@example.com')
    await backUp()
    const state = declare({ users: [{ email: user.email, keys: [] }] })
    assert.deepEqual(await applyAll(store, state, { prune: true }), ['written'])
    return issued
  })
  await restore()
  await serve(async (store) => assert.equal((await claim(store, key)).outcome, 'revoked'))
})

test('a state that is outdated leaves no revocation in the journal', async (t) => {
  const { faults, serve } = files(t)
  const key = await serve(async (store) => {
    const { user, key: issued } = await addOwner(store, 'ada@example.com')
    const state = declare({ users: [{ email: user.email, keys: [] }] })
    const confirmed = { changes: [], keptRevoked: [] }
    assert.deepEqual(await applyAll(store, state, { prune: true, confirmed }), ['outdated'])
    return issued
  })
  await serve(async (store) => assert.equal((await claim(store, key)).outcome, 'granted'))
  assert.deepEqual(faults, [])
})
