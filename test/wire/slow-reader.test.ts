import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusal } from '../../src/api/responses.ts'
import { listen } from '../../src/http/listen.ts'
import type { Request } from '../../src/http/message.ts'
import { hosted } from './corpus/case.ts'
import { answerWith } from './client/held.ts'
import { open } from './client/raw.ts'

/* A client that reads late gets the bytes that were written for it. */

const BODY_BYTES = 4_000
const TOGETHER = 2
const PATH_BYTES = 8
const OTHERS = '/others!'

test('a late reader gets its own answers, whatever others were sent meanwhile', async (t) => {
  let taken = 0
  const answer = ({ path }: Request) => {
    if (path !== OTHERS) taken += 1
    return answerWith(path.repeat(BODY_BYTES / PATH_BYTES))
  }
  const application = { answer, refuse: refusal, observe: () => {} }
  const listener = await listen(application, '127.0.0.1', 0)
  t.after(listener.close)
  const [late, other] = [await open(listener.port), await open(listener.port)]
  late.socket.pause()
  let [sent, rounds] = [0, 0]
  // The service takes no more requests when too many answers wait.
  while (taken === sent) {
    const paths = Array.from({ length: TOGETHER }, (_, index) => pathOf(sent + index))
    late.send(paths.map(requestFor).join(''))
    sent += TOGETHER
    other.send(requestFor(OTHERS))
    rounds += 1
    await other.answers(rounds)
  }
  late.socket.resume()
  const answers = await late.untilEnd()
  assert.equal(answers.length, taken)
  for (const [index, { body }] of answers.entries())
    assert.equal(body, pathOf(index).repeat(BODY_BYTES / PATH_BYTES))
})

function pathOf(index: number): string {
  return `/${String(index).padStart(PATH_BYTES - 1, '0')}`
}

function requestFor(path: string): string {
  return hosted(`GET ${path} HTTP/1.1`)
}
