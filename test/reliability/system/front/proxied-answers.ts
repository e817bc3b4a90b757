import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { ROOT } from '../../../fixtures/tree.ts'
import { type RawAnswer, readAnswer } from '../../../wire/client/read-answer.ts'
import { COMMON } from '../../../wire/client/outcome.ts'
import { once } from '../../../fixtures/within.ts'

const CERTIFICATE = readFileSync(join(ROOT, 'test/fixtures/tls/localhost.crt'))

/** Longer than any proxy waits for a client. */
const PATIENCE_MS = 30_000

/**
 * Sends a text to a proxy on a new connection and waits until the proxy ends it. `heads` are the
 * positions of answers to HEAD.
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
  // The proxy may close while bytes are still on their way to it. Its answers have arrived by then.
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
    rest = inOneForm(rest)
    if (!rest.startsWith('HTTP/')) return [...answers, withoutHead(rest)]
    const answer = readAnswer(rest, 0, heads.includes(answers.length))
    assert.ok(
      typeof answer !== 'number',
      `ended within ${JSON.stringify(rest)}, of ${JSON.stringify(send)}`,
    )
    answers.push(answer)
    rest = rest.slice(answer.text.length)
  }
  return answers
}

/** Rewrites what a proxy's answers do not share with the service's. */
function inOneForm(answers: string): string {
  return (
    answers
      // nginx asks for a body with 100, and has no reason phrase for 431.
      .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
      .replace(/^(HTTP\/1\.1 431) \r/, '$1 Too large\r')
      // Caddy answers with the version of the request. A page of its own has no length, and its
      // reason phrase may have a colon.
      .replace(/^HTTP\/1\.0 /, 'HTTP/1.1 ')
      .replace(/^(HTTP\/1\.1 \d+ [A-Za-z ]+):.*/, '$1')
      .replace(PAGE_WITHOUT_LENGTH, (_, head: string, body: string) => {
        return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
      })
  )
}

const PLAIN = 'Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n'
/** It extends to the end of the connection. */
const PAGE_WITHOUT_LENGTH = new RegExp(`^(HTTP/1\\.1 [^\\r]*\\r\\n${PLAIN})\\r\\n(.*)$`, 's')

/** The answer to a request of HTTP/0.9, which has no head. */
function withoutHead(body: string): RawAnswer {
  return { status: 0, headers: {}, body, text: body }
}

const BODIES: Record<number, string[]> = {
  200: ['{"ok":true}', '{"servers":[]}', ''],
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

/**
 * Checks that an answer has the API's form, whether the service or the proxy gave it. For HTTP/0.9
 * it is a body only.
 */
export function assertFormOfApi({ status, headers, body }: RawAnswer): void {
  if (status === 0) {
    assert.ok(Object.values(BODIES).flat().includes(body), body)
    return
  }
  assert.ok(BODIES[status]?.includes(body), `${status} ${body}`)
  for (const [name, value] of Object.entries(COMMON))
    assert.equal(headers[name], value, `${name} of ${status} ${body}`)
}
