import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { addOwner, startTestService } from '../../fixtures/service.ts'
import { settled } from '../client/held.ts'
import { assertOutcomes, headsAmong } from '../client/outcome.ts'
import { open, type RawClient } from '../client/raw.ts'
import { readConnection } from './read-connection.ts'

/** A service, and one of its keys that was used within the current second. */
export interface Counterpart {
  key: string
  /** Sends a text, whole or cut at these positions, and compares the answers with the reference. */
  exchange(text: string, cuts?: readonly number[]): Promise<void>
  /** The final assertions. */
  assertWhole(): Promise<void>
}

export async function startCounterpart(t: Pick<TestContext, 'after'>): Promise<Counterpart> {
  const service = await startTestService(t, { headersMs: 60_000, lingerMs: 10_000 })
  const { key } = await addOwner(service.store, 'ada@example.com')
  assert.equal((await ask(service.port, { key })).status, 200)
  let answered = 1

  return {
    key,
    async exchange(text, cuts = []) {
      const expected = readConnection(text, key)
      const client = await open(service.port, headsAmong(expected.answers))
      await sendInCuts(client, text, cuts)
      client.socket.end()
      const answers = await client.untilEnd()
      answered += answers.length
      assertOutcomes(answers, expected.answers, expected.closes)
    },
    async assertWhole() {
      assert.deepEqual(service.faults, [])
      assert.equal(service.events.length, answered, 'every answer was observed, and nothing else')
      assert.equal((await ask(service.port, { path: '/health' })).body, '{"ok":true}')
    },
  }
}

/**
 * The service reads and answers each piece before the next one. Stops when the service has closed.
 */
async function sendInCuts(client: RawClient, text: string, cuts: readonly number[]): Promise<void> {
  const places = [...new Set(cuts)].toSorted((one, other) => one - other)
  for (const [index, place] of [0, ...places].entries()) {
    await client.sendInPieces(text.slice(place, places[index]), text.length)
    await settled()
  }
}
