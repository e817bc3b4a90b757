import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { programIn } from '../../../cli/program.ts'
import { headsAmong, type Outcome, statusOf } from '../../../wire/client/outcome.ts'
import { CORPUS } from '../../../wire/corpus/corpus.ts'
import { readConnection } from '../../../wire/reference/read-connection.ts'
import { DIFFERENCES, RACES } from './caddy-differences.ts'
import { startCaddy } from './caddy.ts'
import { CERTIFICATE, type Front } from './fronts.ts'
import { answersThrough, assertFormOfApi } from './proxied-answers.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * A client behind Caddy gets the statuses that the service gives on a direct connection. A list has
 * every case of the corpus that gets others, with the reason.
 */

test('Caddy gives the statuses of the service, but for a list with reasons', async (t) => {
  const program = programIn(t)
  const service = await program.serve()
  await program.done('user add ada@example.com --create')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const front = await startCaddy(t, service.port)
  const cases = Object.entries(CORPUS).flatMap(([subject, some]) =>
    some.map(({ name, send }) => [`${subject}: ${name}`, send.replaceAll('KEY', key)] as const),
  )
  const different = await Promise.all(
    cases.map(async ([name, text]) => ((await isAlike(front, key, text)) ? [] : [name])),
  )
  const decided = different.flat().filter((name) => !RACES.has(name))
  assert.deepEqual(decided.toSorted(), DIFFERENCES)
})

test('Caddy gives a client of HTTP/2 the answers of the service', async (t) => {
  const program = programIn(t)
  const service = await program.serve()
  await program.done('user add ada@example.com --create')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const { port } = await startCaddy(t, service.port)
  const session = connect(`https://localhost:${port}`, { ca: readFileSync(CERTIFICATE) })
  t.after(() => session.close())
  const authorization = `Bearer ${key}`
  assert.deepEqual(await askHttp2(session, { ':path': '/v1/servers', authorization }), [
    200,
    '{"servers":[]}',
  ])
  assert.deepEqual(await askHttp2(session, { ':path': '/v1/servers' }), [
    401,
    '{"error":"Invalid or missing API key."}',
  ])
})

async function askHttp2(
  session: ClientHttp2Session,
  headers: Record<string, string>,
): Promise<[status: number | undefined, body: string]> {
  const stream = session.request(headers)
  const [answer] = await once(stream, 'response')
  return [answer[':status'], await text(stream)]
}

/**
 * Caddy may answer further requests where the service has closed, since it reads bodies. That the
 * service answers as many as Caddy passes on is a test of its own.
 */
async function isAlike(front: Front, key: string, text: string): Promise<boolean> {
  const { answers } = readConnection(text, key)
  const there = await answersThrough(front.port, text, headsAmong(answers))
  for (const answer of there) if (!front.isItsOwn(answer)) assertFormOfApi(answer)
  return answers.every((outcome, index) => isLike(outcome, there[index]?.status))
}

/** The cases share one key, so each of its requests is granted or limited. */
function isLike(outcome: Outcome, status: number | undefined): boolean {
  if (outcome === 429) return status === 429 || status === 200
  return statusOf(outcome) === status
}
