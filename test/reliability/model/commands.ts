import assert from 'node:assert/strict'
import fc from 'fast-check'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import type { Model, ModelKey } from './listing-model.ts'
import * as expected from './listing-model.ts'
import type { Real } from './real.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

export type Command = fc.AsyncCommand<Model, Real>

/** Commands about keys and claims. A repeated entry is drawn more often. */
export function keyCommands(): fc.Arbitrary<Command>[] {
  const owner = fc.nat(1)
  const which = fc.nat(11)
  const askWell = which.map((index) => ask([index, 'good']))
  const elapsed = fc.oneof(fc.constantFrom(1, 999_999, 1_000_000, 1_000_001), fc.nat(2_000_000))
  const issueBot = owner.map((index) => issue([index, 'bot']))
  return [
    issueBot,
    issueBot,
    fc.tuple(owner, fc.constantFrom('x', 'x'.repeat(64), 'x'.repeat(65), '')).map(issue),
    ...Array.from({ length: 5 }, () => askWell),
    fc.tuple(which, fc.constantFrom(...Object.keys(HEADERS))).map(ask),
    fc.tuple(which, fc.integer({ min: 2, max: 4 })).map(askTogether),
    fc.tuple(fc.boolean(), which).map(revoke),
    which.map(revokeLeaked),
    owner.map(listKeys),
    ...Array.from({ length: 4 }, () => elapsed.map(elapse)),
  ]
}

/** Ways to send a key, most of them wrong. */
const HEADERS: Record<string, (key: string) => string | null> = {
  good: (key) => `Bearer ${key}`,
  'in capitals': (key) => `BEARER ${key}`,
  'with two spaces': (key) => `Bearer  ${key}`,
  longer: (key) => `Bearer ${key}0`,
  shorter: (key) => `Bearer ${key.slice(0, -1)}`,
  bare: (key) => key,
  absent: () => null,
}

function issue([index, name]: [number, string]): Command {
  return command(`issue "${name}" to ${index}`, async (model, { store, owners }) => {
    const owner = owners[index]!
    const refusal = expected.refusalOf(model, owner, name)
    const issued = await issueApiKey(store.database, owner, name, operatorAt(model.now))
    assert.equal('refused' in issued ? issued.because : null, refusal)
    if ('refused' in issued) return
    const { key, apiKey } = issued
    model.keys.push({ key, id: apiKey.id, owner, name, revokedAt: null, lastUsedAt: null })
  })
}

function ask([index, way]: [number, string]): Command {
  return withKey(`ask with key ${index}, ${way}`, index, async (model, real, { key }) => {
    const authorization = HEADERS[way]!(key)
    assert.deepEqual(await answer(real, authorization), expected.ask(model, authorization))
  })
}

/** Exactly one of several concurrent requests gets the listing. */
function askTogether([index, times]: [number, number]): Command {
  return withKey(`ask ${times} times with key ${index}`, index, async (model, real, { key }) => {
    const requests = Array.from({ length: times }, () => answer(real, `Bearer ${key}`))
    const answers = await Promise.all(requests)
    const wanted = answers.map(() => expected.ask(model, `Bearer ${key}`))
    assert.deepEqual(answers.toSorted(byStatus), wanted.toSorted(byStatus))
  })
}

function revoke([isOwn, index]: [boolean, number]): Command {
  const who = isOwn ? 'its owner' : 'the other'
  return withKey(`revoke key ${index} as ${who}`, index, async (model, real, { id, owner }) => {
    const by = real.owners.find((one) => (one === owner) === isOwn)!
    const revoked = await recordsOf(real.store).revokeApiKey(by, id, operatorAt(model.now))
    assert.equal(revoked?.revoked_at ?? null, expected.revoke(model, by, id))
  })
}

function revokeLeaked(index: number): Command {
  return withKey(`revoke key ${index}, which leaked`, index, async (model, { store }, known) => {
    const [revoked] = await recordsOf(store).revokeApiKeysByHash(
      [hashApiKey(known.key)],
      operatorAt(model.now),
    )
    assert.equal(revoked?.revoked_at, expected.revoke(model, known.owner, known.id))
  })
}

function listKeys(index: number): Command {
  return command(`list the keys of ${index}`, async (model, { store, owners }) => {
    const owner = owners[index]!
    const listed = (await recordsOf(store).listApiKeys(owner)).map((one) => [
      one.id,
      one.name,
      one.revoked_at,
      one.last_used_at,
    ])
    const wanted = expected
      .keysOf(model, owner)
      .map(({ id, name, revokedAt, lastUsedAt }) => [id, name, revokedAt, lastUsedAt])
    assert.deepEqual(listed.toSorted(byId), wanted.toSorted(byId))
  })
}

function elapse(microseconds: number): Command {
  return command(`let ${microseconds} µs pass`, async (model, real) => {
    await real.elapse(microseconds / 1_000)
    model.now += microseconds
  })
}

export function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command {
  return { check, run, toString: () => name }
}

function withKey(
  name: string,
  index: number,
  run: (model: Model, real: Real, key: ModelKey) => Promise<void>,
): Command {
  return command(
    name,
    (model, real) => run(model, real, model.keys[index % model.keys.length]!),
    ({ keys }) => keys.length > 0,
  )
}

async function answer(real: Real, authorization: string | null): Promise<expected.Answer> {
  const request = { method: 'GET', path: '/v1/servers', authorization }
  const { status, body } = await real.answer(request)
  assert.deepEqual(real.faults, [])
  real.answered.set(status, (real.answered.get(status) ?? 0) + 1)
  return { status, body: String(body) }
}

function byStatus(a: expected.Answer, b: expected.Answer): number {
  return a.status - b.status
}

function byId([a]: unknown[], [b]: unknown[]): number {
  return String(a) < String(b) ? -1 : 1
}
