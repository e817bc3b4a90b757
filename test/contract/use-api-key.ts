import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey, hashApiKey } from '../../src/listing/api-key.ts'
import { AuthenticationFault, ListFault } from '../../src/listing/faults.ts'
import type { ServingStore, Use } from '../../src/listing/store.ts'
import { addOwner, issueKey } from '../fixtures/service.ts'
import type { OpenFixture } from './fixture.ts'

const SERVER = { name: 'Survival', address: 'play.example.com' }

/** The central act: look up, revoked, limit, list, record (spec 5.2, steps 3 to 6). */
export function useApiKeyContract(open: OpenFixture): void {
  test('a key that was never issued is unknown', async (t) => {
    const { store } = await open(t)
    assert.deepEqual(await use(store, generateKey()), { outcome: 'unknown' })
  })

  test('a key that begins with the fixed prefix works whatever its length', async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com')
    const apiKey = {
      ...(await store.listApiKeys(user.id))[0]!,
      id: crypto.randomUUID(),
      name: 'short',
    }
    assert.equal(await store.insertApiKey(apiKey, hashApiKey('svc_live_0a'), 5), 'stored')
    assert.equal((await use(store, 'svc_live_0a')).outcome, 'used')
    assert.equal((await use(store, 'svc_live_0')).outcome, 'unknown')
  })

  test('a use names the key, its owner and the rows', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com', [SERVER])
    const used = await use(store, key)
    assert.ok(used.outcome === 'used')
    assert.equal(used.apiKeyId, keyId)
    assert.equal(used.userId, user.id)
    assert.deepEqual(
      used.rows?.map(({ name, host_label }) => [name, host_label]),
      [['Survival', 'play.example.com']],
    )
  })

  test('the first use is allowed, the next only when a whole second has passed since', async (t) => {
    const { store, elapse } = await open(t)
    const { key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    assert.deepEqual(await use(store, key), { outcome: 'too soon', apiKeyId: keyId })
    await elapse(500)
    assert.equal((await use(store, key)).outcome, 'too soon')
    await elapse(500)
    assert.equal((await use(store, key)).outcome, 'used')
  })

  test('a refused use does not move the second', async (t) => {
    const { store, elapse } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    const since = performance.now()
    let steps = 0
    do {
      await elapse(100)
      steps += 1
    } while ((await use(store, key)).outcome === 'too soon')
    // Some engines' clocks go on by themselves meanwhile.
    assert.ok(steps <= 10 && steps * 100 + performance.now() - since >= 1_000, `${steps} steps`)
  })

  test('of two hundred concurrent calls with one key exactly one is a use', async (t) => {
    const { store } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const uses = await Promise.all(Array.from({ length: 200 }, () => use(store, key)))
    const count = (outcome: string) => uses.filter((one) => one.outcome === outcome).length
    assert.deepEqual([count('used'), count('too soon')], [1, 199])
  })

  test('keys are limited each by itself, those of one owner too', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const second = await issueKey(store, user, 'second')
    const uses = await Promise.all([use(store, key), use(store, second.key)])
    assert.deepEqual(
      uses.map(({ outcome }) => outcome),
      ['used', 'used'],
    )
  })

  test('last_used_at moves with a use and with nothing else', async (t) => {
    const { store, elapse, breakServers } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const lastUse = async () => (await store.listApiKeys(user.id))[0]!.last_used_at
    assert.equal(await lastUse(), null)

    await use(store, key)
    await elapse(500)
    const first = await lastUse()
    assert.ok(first !== null)
    await use(store, key) // too soon
    assert.equal(await lastUse(), first)

    await elapse(600)
    const aged = await lastUse()
    const mend = await breakServers()
    await assert.rejects(use(store, key), ListFault)
    await mend()
    assert.equal(await lastUse(), aged)

    await use(store, key)
    const second = await lastUse()
    assert.ok(second !== null && second > first)

    await store.revokeApiKey(user.id, keyId, 1)
    assert.equal((await use(store, key)).outcome, 'revoked')
    assert.equal(await lastUse(), second)
  })

  test('a use that failed spends nothing: the next one is a use at once', async (t) => {
    const { store, breakServers } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const mend = await breakServers()
    await assert.rejects(use(store, key), ListFault)
    await mend()
    assert.equal((await use(store, key)).outcome, 'used')
  })

  test('while servers cannot be read, keys still are: unknown, revoked and too soon are told apart', async (t) => {
    const { store, breakServers } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const { user, key: gone, keyId } = await addOwner(store, 'bob@example.com')
    const { key: other } = await addOwner(store, 'eve@example.com')
    await store.revokeApiKey(user.id, keyId, 1)
    await use(store, key)
    const mend = await breakServers()
    const settled = await Promise.allSettled([
      use(store, key),
      use(store, gone),
      use(store, generateKey()),
      use(store, other),
    ])
    await mend()
    assert.deepEqual(settled.map(summary), ['too soon', 'revoked', 'unknown', 'ListFault'])
  })

  test('while keys cannot be read, every call is an authentication fault, and nothing is spent', async (t) => {
    const { store, breakApiKeys } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const mend = await breakApiKeys()
    const settled = await Promise.allSettled([use(store, key), use(store, generateKey())])
    await mend()
    assert.deepEqual(settled.map(summary), ['AuthenticationFault', 'AuthenticationFault'])
    assert.equal((await use(store, key)).outcome, 'used')
  })

  test('calls after close are authentication faults', async (t) => {
    const { store } = await open(t)
    await store.close()
    await store.close()
    await assert.rejects(use(store, generateKey()), AuthenticationFault)
  })
}

function summary(settled: PromiseSettledResult<Use>): string {
  return settled.status === 'fulfilled' ? settled.value.outcome : settled.reason.name
}

export function use(
  store: ServingStore,
  key: string,
  remembered: string | null = null,
): Promise<Use> {
  return store.useApiKey(hashApiKey(key), () => remembered)
}
