import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FIXED_PREFIX } from '../../src/model/key-format.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner, issueKey, startTestService, type TestService } from '../fixtures/service.ts'
import type { Case } from './corpus/case.ts'
import { CORPUS } from './corpus/corpus.ts'
import { assertOutcomes, headsAmong, type Outcome } from './client/outcome.ts'
import { open, type RawClient } from './client/raw.ts'
import type { RawAnswer } from './client/read-answer.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Sends every case of the corpus in two ways. Each gets exactly one answer, always the same. If
 * the connection stays open, it answers another request.
 */

const REQUEST = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
const LAST_REQUEST = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

interface Way {
  /** The answer to the request before it, in the same packet. */
  before: Outcome[]
  send(client: RawClient, text: string): Promise<void> | void
  /** True if the next request was in the same packet, false if it followed the answers. */
  isFollowed: boolean
}

const WAYS: Record<string, Way> = {
  'followed by a request': {
    before: [],
    send: (client, text) => client.send(text + LAST_REQUEST),
    isFollowed: true,
  },
  'behind a request, byte by byte': {
    before: ['health'],
    send: (client, text) => sendByBytes(client, REQUEST + text),
    isFollowed: false,
  },
}

/** Sends cases above 2,000 bytes in pieces of a few bytes, to limit the time. */
function sendByBytes(client: RawClient, text: string): Promise<void> {
  return client.sendInPieces(text, Math.ceil(text.length / 2_000))
}

for (const [name, way] of Object.entries(WAYS))
  test(`the corpus ${name}`, { concurrency: 32 }, (t) => runCorpus(t, way))

async function runCorpus(t: TestContext, way: Way): Promise<void> {
  // On a busy machine, 2,000 packets can exceed the time limit of a client.
  const service = await startTestService(t, { headersMs: 600_000, lingerMs: 60_000 })
  const answers: RawAnswer[] = []
  const tests: Promise<void>[] = []
  for (const [subject, cases] of Object.entries(CORPUS))
    for (const one of cases)
      tests.push(
        t.test(`${subject}: ${one.name}`, async () => {
          answers.push(...(await run(service, one, way)))
        }),
      )
  await Promise.all(tests)

  assert.deepEqual(service.faults, [])
  const claims = service.events.length - answers.length
  assert.equal(
    claims,
    1,
    'every answer was observed once; one more is the claim of the revoked key',
  )
  // Two 401s may differ only in `Connection` and `Date`.
  const refused = answers.filter(({ status }) => status === 401)
  const texts = refused.map(({ text }) =>
    text.replace(/^(Date|Connection|Keep-Alive): .*\r\n/gm, ''),
  )
  assert.equal(new Set(texts).size, 1)
  assert.equal((await ask(service.port, { path: '/health' })).body, '{"ok":true}')
}

async function run(
  service: TestService,
  { send, answers, closes }: Case,
  way: Way,
): Promise<RawAnswer[]> {
  const text = await withKeys(service, send)
  const expected = [...way.before, ...answers]
  const client = await open(service.port, headsAmong(expected))
  await way.send(client, text)
  if (!closes) {
    if (!way.isFollowed) {
      await client.answers(expected.length)
      client.send(LAST_REQUEST)
    }
    expected.push('health')
  }
  const received = await client.untilEnd()
  assertOutcomes(received, expected, true)
  return received
}

let owners = 0

async function withKeys({ port, store }: TestService, text: string): Promise<string> {
  if (!/KEY|CUT_OFF|UPPER_CASE|REVOKED/.test(text)) return text
  owners += 1
  const { user, key } = await addOwner(store, `owner-${owners}@example.com`)
  let revoked = ''
  if (text.includes('REVOKED')) {
    const issued = await issueKey(store, user)
    revoked = issued.key
    assert.equal((await ask(port, { key: revoked })).status, 200)
    await recordsOf(store).revokeApiKey(user.id, issued.id, operatorAt(1))
  }
  return text
    .replaceAll('KEY', key)
    .replace('CUT_OFF', key.slice(0, -1))
    .replace('UPPER_CASE', FIXED_PREFIX + key.slice(FIXED_PREFIX.length).toUpperCase())
    .replace('REVOKED', revoked)
}
