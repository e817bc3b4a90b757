import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { AuthenticationFault, ListFault } from '../../../src/model/faults.ts'
import type { Claim } from '../../../src/model/claim.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { holding } from '../../fixtures/listings.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { OPERATOR } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'

const SERVER = { name: 'Survival', address: 'play.example.com' }

/** The central act: look up, revoked, limit, list, record (spec 5.2, steps 3 to 6). */
export function claimContract(open: OpenFixture): void {
  test('a key that was never issued is unknown', async (t) => {
    const { store } = await open(t)
    assert.deepEqual(await claim(store, generateKey()), { outcome: 'unknown' })
  })

  test('a key with the fixed prefix works whatever its length', async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com')
    const apiKey = {
      ...(await recordsOf(store).listApiKeys(user.id))[0]!,
      id: crypto.randomUUID(),
      name: 'short',
    }
    assert.equal(
      await recordsOf(store).insertApiKey(apiKey, hashApiKey('svc_live_0a'), 5, OPERATOR),
      'stored',
    )
    assert.equal((await claim(store, 'svc_live_0a')).outcome, 'granted')
    assert.equal((await claim(store, 'svc_live_0')).outcome, 'unknown')
  })

  test('a granted claim returns the key, its owner and the rows', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com', [SERVER])
    const used = await claim(store, key)
    assert.ok(used.outcome === 'granted')
    assert.equal(used.apiKeyId, keyId)
    assert.equal(used.userId, user.id)
    assert.deepEqual(
      used.rows?.map(({ name, host_label }) => [name, host_label]),
      [['Survival', 'play.example.com']],
    )
  })

  test('the next claim is granted a whole second after the last granted one', async (t) => {
    const { store, elapse } = await open(t)
    const { key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    const limited = await claim(store, key)
    assert.ok(limited.outcome === 'limited' && limited.apiKeyId === keyId)
    await elapse(500)
    assert.equal((await claim(store, key)).outcome, 'limited')
    await elapse(500)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('a limited claim does not move the second', async (t) => {
    const { store, elapse } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    // Before the claim, as a busy machine may return its outcome long after its stamp.
    const since = performance.now()
    assert.equal((await claim(store, key)).outcome, 'granted')
    let steps = 0
    do {
      await elapse(100)
      steps += 1
    } while ((await claim(store, key)).outcome === 'limited')
    // Some engines' clocks also run by themselves meanwhile.
    assert.ok(steps <= 10 && steps * 100 + performance.now() - since >= 1_000, `${steps} steps`)
  })

  test('exactly one of two hundred concurrent claims of one key is granted', async (t) => {
    const { store } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const claims = await Promise.all(Array.from({ length: 200 }, () => claim(store, key)))
    const count = (outcome: string) => claims.filter((one) => one.outcome === outcome).length
    assert.deepEqual([count('granted'), count('limited')], [1, 199])
  })

  test('each key has its own limit, also among the keys of one owner', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const second = await issueKey(store, user, 'second')
    const claims = await Promise.all([claim(store, key), claim(store, second.key)])
    assert.deepEqual(
      claims.map(({ outcome }) => outcome),
      ['granted', 'granted'],
    )
  })

  test('only a granted claim moves last_used_at', async (t) => {
    const { store, elapse, breakServers } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const lastUse = async () => (await recordsOf(store).listApiKeys(user.id))[0]!.last_used_at
    assert.equal(await lastUse(), null)

    await claim(store, key)
    await elapse(500)
    const first = await lastUse()
    assert.ok(first !== null)
    await claim(store, key) // limited
    assert.equal(await lastUse(), first)

    await elapse(600)
    const aged = await lastUse()
    const repair = await breakServers()
    await assert.rejects(claim(store, key), ListFault)
    await repair()
    assert.equal(await lastUse(), aged)

    await claim(store, key)
    const second = await lastUse()
    assert.ok(second !== null && second > first)

    await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1))
    assert.equal((await claim(store, key)).outcome, 'revoked')
    assert.equal(await lastUse(), second)
  })

  test('a failed claim does not limit the next one', async (t) => {
    const { store, breakServers } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const repair = await breakServers()
    await assert.rejects(claim(store, key), ListFault)
    await repair()
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('with unreadable servers, unknown, revoked and limited keys still differ', async (t) => {
    const { store, breakServers } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const { user, key: gone, keyId } = await addOwner(store, 'bob@example.com')
    const { key: other } = await addOwner(store, 'eve@example.com')
    await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1))
    await claim(store, key)
    const repair = await breakServers()
    const settled = await Promise.allSettled([
      claim(store, key),
      claim(store, gone),
      claim(store, generateKey()),
      claim(store, other),
    ])
    await repair()
    assert.deepEqual(settled.map(summary), ['limited', 'revoked', 'unknown', 'ListFault'])
  })

  test('while keys cannot be read, every claim is a fault and limits no later one', async (t) => {
    const { store, breakApiKeys } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const repair = await breakApiKeys()
    const settled = await Promise.allSettled([claim(store, key), claim(store, generateKey())])
    await repair()
    assert.deepEqual(settled.map(summary), ['AuthenticationFault', 'AuthenticationFault'])
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('claims after close are authentication faults', async (t) => {
    const { store } = await open(t)
    await store.close()
    await store.close()
    await assert.rejects(claim(store, generateKey()), AuthenticationFault)
  })
}

function summary(settled: PromiseSettledResult<Claim>): string {
  return settled.status === 'fulfilled' ? settled.value.outcome : settled.reason.name
}

export function claim(
  store: Pick<ServingStore, 'claim'>,
  key: string,
  heldRevision: string | null = null,
): Promise<Claim> {
  return store.claim(hashApiKey(key), holding(heldRevision))
}
