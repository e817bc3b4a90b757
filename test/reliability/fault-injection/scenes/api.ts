import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { generateKey } from '../../../../src/keys/api-key.ts'
import type { ServingStore } from '../../../../src/database/store.ts'
import { ask } from '../../../fixtures/requests.ts'
import { addUser, issueKey } from '../../../fixtures/service.ts'
import type { Disturbance, Trap } from '../trap.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/** The API on a real socket and a real database. */
export interface ApiScene {
  port: number
  store: ServingStore
  /** Moves the clock of the limit. */
  elapse(milliseconds: number): Promise<void>
}

const AUTHENTICATION = '502 Authentication service error.'
const LIST = '502 Failed to load servers.'

/** The allowed answers while the database fails. `/health` never asks the database. */
const ANSWERS: Record<string, string[]> = {
  limited: ['429 Rate limit exceeded', AUTHENTICATION],
  revoked: ['401 Invalid or missing API key.', AUTHENTICATION],
  unknown: ['401 Invalid or missing API key.', AUTHENTICATION],
  health: ['200'],
}

/** All routes of the API, with a fault at each of their calls to the database in turn. */
export function disturbedRequests<D extends Disturbance>(
  open: (t: TestContext) => Promise<ApiScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
  /** True if this fault at this statement makes only the list unreadable. */
  isOfList: (disturbance: D, statement: string) => boolean,
): void {
  test('API: a failed call is the right 502; only a recorded claim limits the next', async (t) => {
    const scene = await open(t)
    const { port, store, elapse } = scene
    const user = await addUser(store)
    await recordsOf(store).saveServers(
      user.id,
      null,
      [{ name: 'a', address: 'a.example' }],
      operatorAt(1),
    )
    for (const disturbance of disturbances) {
      const startedAt = performance.now()
      let n = 1
      for (let isReached = true; isReached; n += 1) {
        const label = `call ${n} ${disturbance.name}`
        const keys = await issueKeys(store, user.id)
        await untilAnswered(scene, keys.limited, 'undisturbed')
        trap.set(n, disturbance)
        const asked = Object.entries({ ...keys, unknown: generateKey() }).map(
          async ([kind, key]) => [kind, await answerOf(port, { key })] as const,
        )
        const answers = await Promise.all([
          ...asked,
          answerOf(port, { path: '/health' }).then((answer) => ['health', answer] as const),
        ]).finally(trap.lift)
        isReached = trap.lift()
        const failed = isOfList(disturbance, trap.disturbed()) ? LIST : AUTHENTICATION
        for (const [kind, answer] of answers) {
          const allowed = ANSWERS[kind] ?? ['200', failed]
          assert.ok(allowed.includes(answer), `${label}, ${kind}: ${answer}: ${trap.disturbed()}`)
        }
        const used = (await recordsOf(store).listApiKeys(user.id, 0)).find(
          ({ name }) => name === 'good',
        )
        const wasUsed = used?.last_used_at !== null
        const isGood = answers.some(([kind, answer]) => kind === 'good' && answer === '200')
        assert.ok(wasUsed || !isGood, `${label}: a 200 was not recorded`)
        // The claim may have been recorded although the client got no 200.
        if (wasUsed) await elapse(1_000)
        await untilAnswered(scene, keys.good, `${label}, then undisturbed`)
      }
      const took = Math.round(performance.now() - startedAt)
      t.diagnostic(`five requests at once; ${n - 2} calls, each ${disturbance.name}: ${took} ms`)
    }
  })
}

/** Answered at once, unless the machine stands still and the service reaches its time limits. */
async function untilAnswered({ port, elapse }: ApiScene, key: string, label: string) {
  for (let tries = 1; ; tries += 1) {
    const answer = await answerOf(port, { key })
    if (answer === '200') return
    assert.ok(tries < TRIES_MAX && answer.startsWith('502'), `${label}: ${answer}`)
    await elapse(1_000)
  }
}

const TRIES_MAX = 3

async function issueKeys(store: ServingStore, userId: string) {
  const keys = { good: '', limited: '', revoked: '' }
  for (const { id } of await recordsOf(store).listApiKeys(userId))
    await recordsOf(store).revokeApiKey(userId, id, operatorAt(1))
  for (const name of ['good', 'limited', 'revoked'] as const)
    keys[name] = (await issueKey(store, { id: userId }, name)).key
  const revoked = (await recordsOf(store).listApiKeys(userId, 0)).find(
    ({ name }) => name === 'revoked',
  )
  await recordsOf(store).revokeApiKey(userId, revoked!.id, operatorAt(1))
  return keys
}

async function answerOf(port: number, request: { key?: string; path?: string }): Promise<string> {
  const { status, headers, body } = await ask(port, request)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers['access-control-allow-origin'], '*')
  const { error } = JSON.parse(body) as { error?: string }
  return error === undefined ? String(status) : `${status} ${error}`
}
