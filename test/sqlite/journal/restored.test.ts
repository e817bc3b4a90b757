import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AuthenticationFault, NotConfigured } from '../../../src/model/faults.ts'
import { RevivedKeys } from '../../../src/sqlite/journal/mirror.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import { exec, hexOf, twoKeys } from './beside.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * An older file is written over the served one, in one transaction, as the `.restore` of SQLite's
 * command line does.
 */

async function serveTwoKeys(t: TestContext) {
  const files = await twoKeys(t)
  const faults: unknown[] = []
  const clock = manualClock()
  const store = await openServingSqliteStore(files.path, clock, (fault) => faults.push(fault))
  t.after(() => store.close())
  const outcomeOf = async ({ key }: { key: string }) => {
    clock.elapse(1_000)
    return (await claim(store, key)).outcome
  }
  return { ...files, store, faults, outcomeOf }
}

test('a revoked key is refused from the first claim after a restore, and another key works', async (t) => {
  const { ada, bob, store, faults, outcomeOf, restoreOlder } = await serveTwoKeys(t)
  assert.deepEqual([await outcomeOf(ada), await outcomeOf(bob)], ['granted', 'granted'])
  await recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7))
  for (let round = 0; round < 5; round += 1) {
    await restoreOlder()
    const outcomes = await Promise.all([claim(store, ada.key), outcomeOf(bob)])
    assert.deepEqual([outcomes[0].outcome, outcomes[1]], ['revoked', 'granted'])
  }
  assert.equal(faults.length, 5)
  assert.ok(faults.every((fault) => fault instanceof RevivedKeys))
})

test('a revocation that another program made is mirrored and outlives a restore', async (t) => {
  const { ada, lines, outcomeOf, revokeBySql, restoreOlder } = await serveTwoKeys(t)
  revokeBySql(ada.key)
  assert.equal(await outcomeOf(ada), 'revoked')
  const until = performance.now() + 30_000
  while (lines().length === 0 && performance.now() < until) await delay(10)
  await restoreOlder()
  assert.equal(await outcomeOf(ada), 'revoked')
})

test('the first change after a restore is made in the united file', async (t) => {
  const { ada, bob, store, lines, outcomeOf, restoreOlder } = await serveTwoKeys(t)
  // So many that the numbers of the older list begin again.
  const { user } = await addOwner(store, 'eve@example.com')
  for (let count = 0; count < 3; count += 1) {
    const { id } = await issueKey(store, user)
    await recordsOf(store).revokeApiKey(user.id, id, operatorAt(7))
  }
  await recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7))
  await restoreOlder()
  await recordsOf(store).revokeApiKey(bob.user.id, bob.keyId, operatorAt(7))
  assert.ok(lines().includes(hexOf(bob.key)))
  assert.deepEqual([await outcomeOf(ada), await outcomeOf(bob)], ['revoked', 'revoked'])
})

test('claims fail after a restore while the journal cannot be read, and then go on', async (t) => {
  const { ada, bob, store, faults, outcomeOf, restoreOlder, withoutJournal } = await serveTwoKeys(t)
  await recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7))
  // The second time, nothing of the first failure is left: not for claims, and not for the log.
  for (const episode of [1, 2]) {
    await withoutJournal(async () => {
      await restoreOlder()
      // The claim that finds the file restored may wait for the union in vain.
      for (const one of [ada, bob, ada, bob])
        await assert.rejects(outcomeOf(one), AuthenticationFault)
      const message = /^the database file was restored, and could not be united with its journal/
      const seen: unknown[] = []
      for (const one of [ada, bob]) await outcomeOf(one).catch((fault) => seen.push(fault))
      assert.match((seen[0] as Error).message, message)
      assert.equal(seen[1], seen[0])
      await assert.rejects(issueKey(store, bob.user), NotConfigured)
    })
    assert.equal(faults.filter((fault) => fault instanceof NotConfigured).length, episode)
    const until = performance.now() + 30_000
    const tryBob = () => outcomeOf(bob).catch(() => delay(10))
    while ((await tryBob()) !== 'granted') assert.ok(performance.now() < until)
    assert.equal(await outcomeOf(ada), 'revoked')
    await restoreOlder()
    assert.equal(await outcomeOf(bob), 'granted')
  }
})

test('a change of the schema holds up no claim', async (t) => {
  const { path, ada, faults, outcomeOf } = await serveTwoKeys(t)
  for (const change of ['CREATE TABLE of_the_site (id TEXT)', 'VACUUM', 'DROP TABLE of_the_site']) {
    exec(path, change)
    assert.equal(await outcomeOf(ada), 'granted')
  }
  assert.deepEqual(faults, [])
})
