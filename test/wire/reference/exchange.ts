import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { addOwner, startTestService } from '../../fixtures/service.ts'
import { settled } from '../held.ts'
import { assertOutcomes, headsAmong } from '../outcome.ts'
import { open, type RawClient } from '../raw.ts'
import { type Expected, readConnection } from './read-connection.ts'

/** A service, and a key of it that was used within the second which this test takes. */
export interface Counterpart {
  key: string
  /** Says all of a text, in one piece or cut at these places, and compares what comes of it with the reference. */
  exchange(text: string, cuts?: readonly number[]): Promise<void>
  /** What has to be so in the end. */
  assertWhole(): Promise<void>
}

export async function startCounterpart(t: TestContext): Promise<Counterpart> {
  const service = await startTestService(t, { headersMs: 60_000, lingerMs: 10_000 })
  const { key } = await addOwner(service.store, 'ada@example.com')
  assert.equal((await ask(service.port, { key })).status, 200)
  let answered = 1

  return {
    key,
    async exchange(text, cuts = []) {
      const expected = readConnection(text, key)
      const client = await open(service.port, headsAmong(expected[0]!.answers))
      await sendInCuts(client, text, cuts)
      client.socket.end()
      const answers = await client.untilEnd()
      answered += answers.length
      const { answers: outcomes, closes } = nearest(expected, answers.length)
      assertOutcomes(answers, outcomes, closes)
    },
    async assertWhole() {
      assert.deepEqual(service.faults, [])
      assert.equal(service.events.length, answered, 'every answer was observed, and nothing else')
      assert.equal((await ask(service.port, { path: '/health' })).body, '{"ok":true}')
    },
  }
}

/** Of two right ends, the one with as many answers. */
function nearest(expected: readonly Expected[], count: number): Expected {
  return expected.find(({ answers }) => answers.length === count) ?? expected[0]!
}

/** Each piece is read, and answered if it can be, before the next one is sent: none is sent to who has closed. */
async function sendInCuts(client: RawClient, text: string, cuts: readonly number[]): Promise<void> {
  const places = [...new Set(cuts)].toSorted((one, other) => one - other)
  for (const [index, place] of [0, ...places].entries()) {
    await client.sendInPieces(text.slice(place, places[index]), text.length)
    await settled()
  }
}
