import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  healthy,
  notFound,
  preflight,
  rateLimited,
  refusal,
  unauthorized,
} from '../../../src/api/responses.ts'
import type { Front } from '../../../src/http/connection.ts'
import { openConnection } from '../../../src/http/front.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import type { Request, Response } from '../../../src/http/message.ts'
import { createOutbox } from '../../../src/http/outbox.ts'
import { assertOutcomes, headsAmong } from '../client/outcome.ts'
import { type RawAnswer, readAnswer } from '../client/read-answer.ts'
import { readConnection } from '../reference/read-connection.ts'

/** The key that the application knows. Its second is spent. */
export const KEY = 'KEY'

/**
 * Gives these pieces to a connection of the front, without a network, and then the end of the
 * client's side. Returns what each answer is, and whether the last one says `close`. Throws if they
 * are not the reference's.
 */
export async function exchangeInProcess(pieces: readonly string[]): Promise<string[]> {
  const expected = readConnection(pieces.join(''), KEY)
  let sent = ''
  const socket = new Duplex({
    allowHalfOpen: true,
    read() {},
    write(bytes: Buffer, _encoding, done) {
      sent += bytes.toString('latin1')
      done()
    },
  })
  openConnection(createFront(), socket as Socket)
  await nextTurn()
  for (const piece of pieces) {
    socket.push(piece, 'latin1')
    await nextTurn()
  }
  socket.push(null)
  await nextTurn()

  const { answers: outcomes, closes } = expected
  assertOutcomes(readAnswers(sent, headsAmong(outcomes)), outcomes, closes)
  return [...outcomes.map(String), closes ? 'close' : 'keep-alive']
}

function createFront(): Front {
  return {
    application: { answer, refuse: refusal, observe: () => {} },
    limits: LIMITS,
    outbox: createOutbox(LIMITS.keepAliveMs),
    connections: new Set(),
    isDraining: false,
  }
}

/** Answers as the API does, and later if it would ask the database. */
function answer({ method, path, authorization }: Request): Response | Promise<Response> {
  if (method === 'OPTIONS') return preflight
  if (method !== 'GET') return notFound
  if (path === '/' || path === '/health') return healthy
  if (path !== '/v1/servers') return notFound
  const isKnown = /^bearer /i.test(authorization ?? '') && authorization!.slice(7) === KEY
  return isKnown ? nextTurn(rateLimited('id')) : unauthorized
}

function readAnswers(sent: string, heads: readonly number[]): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let at = 0; at < sent.length; at += answers.at(-1)!.text.length) {
    const next = readAnswer(sent, at, heads.includes(answers.length))
    if (typeof next === 'number') throw new Error(`ended within ${JSON.stringify(sent.slice(at))}`)
    answers.push(next)
  }
  return answers
}
