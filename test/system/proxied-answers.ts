import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { ROOT } from '../fixtures/tree.ts'
import { type RawAnswer, readAnswer } from '../wire/read-answer.ts'

const CERTIFICATE = readFileSync(join(ROOT, 'test/fixtures/tls/localhost.crt'))

/** Longer than any of the proxies waits for a client. */
const PATIENCE_MS = 30_000

/**
 * Says a text to a proxy, on a connection of its own, and waits until the proxy ends that. `heads` are answers to
 * HEAD.
 */
export async function answersThrough(
  port: number,
  send: string,
  heads: readonly number[],
): Promise<RawAnswer[]> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: CERTIFICATE })
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    received += text
  })
  // It may close while something is still on the way to it; its answers are here by then.
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  socket.write(send, 'latin1')
  const patience = new AbortController()
  await Promise.race([
    closed,
    delay(PATIENCE_MS, null, { signal: patience.signal }).catch(() => {}),
  ])
  patience.abort()
  socket.destroy()

  const answers: RawAnswer[] = []
  for (let rest = received; rest !== ''; ) {
    // nginx says that it waits for a body, and has no words for 431.
    rest = rest
      .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
      .replace(/^(HTTP\/1\.1 431) \r/, '$1 Too large\r')
    if (!rest.startsWith('HTTP/')) return [...answers, withoutHead(rest)]
    const answer = readAnswer(rest, 0, heads.includes(answers.length))
    assert.ok(answer !== null, `ended within ${JSON.stringify(rest)}, of ${JSON.stringify(send)}`)
    answers.push(answer)
    rest = rest.slice(answer.text.length)
  }
  return answers
}

/** As to a request of HTTP/0.9. */
function withoutHead(body: string): RawAnswer {
  return { status: 0, headers: {}, body, text: body }
}

const BODIES: Record<number, string[]> = {
  200: ['{"ok":true}', '{"servers":[]}'],
  204: [''],
  400: ['{"error":"Bad request."}'],
  401: ['{"error":"Invalid or missing API key."}'],
  404: ['{"error":"Not found."}', ''],
  408: ['{"error":"Request timeout."}'],
  414: ['{"error":"URI too long."}'],
  429: ['{"error":"Rate limit exceeded","limit":"1 rps"}'],
  431: ['{"error":"Request header fields too large."}'],
  502: ['{"error":"Authentication service error."}'],
  505: ['{"error":"HTTP version not supported."}'],
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '86400',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** Whoever gave it, an answer has the form of the API's. To HTTP/0.9 it is a body alone. */
export function assertFormOfApi({ status, headers, body }: RawAnswer): void {
  if (status === 0) {
    assert.ok(Object.values(BODIES).flat().includes(body), body)
    return
  }
  assert.ok(BODIES[status]?.includes(body), `${status} ${body}`)
  for (const [name, value] of Object.entries(HEADERS))
    assert.equal(headers[name], value, `${name} of ${status} ${body}`)
}
