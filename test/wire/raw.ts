import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawAnswer, readAnswer } from './read-answer.ts'

/** How long anything may take before a test gives up on it. Where most runs are to fail, less is set. */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 30_000)

/** One connection of a client that says exactly what it is told, byte for byte, and believes nothing it is told. */
export interface RawClient {
  socket: Socket
  /** One character for each byte, in one piece. */
  send(text: string): void
  /** In pieces of so many bytes, each in a packet of its own. Stops where the service has closed. */
  sendInPieces(text: string, size: number): Promise<void>
  /** The answers so far, as soon as there are so many. */
  answers(count: number): Promise<RawAnswer[]>
  /** All answers, once the service has ended the connection in good order. A reset is an error. */
  untilEnd(): Promise<RawAnswer[]>
  /** Does not close, but sends a byte now and then, until the service has let go of the connection and resets it. */
  untilReset(everyMs: number): Promise<void>
}

/** Opens a connection; the client's side stays open until the service's ends. `heads` are answers to HEAD. */
export async function open(port: number, heads: readonly number[] = []): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const received = createReceived(heads)
  socket.on('data', (bytes) => received.add(bytes.toString('latin1')))
  socket.on('end', () => {
    socket.end()
    received.end()
  })
  socket.on('error', received.fail)
  await once(socket, 'connect')

  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    async sendInPieces(text, size) {
      for (let index = 0; index < text.length && !received.isEnded(); index += size) {
        socket.write(text.slice(index, index + size), 'latin1')
        // The service shares this process, and reads what was written in the next turn of its loop.
        await nextTurn()
      }
    },
    answers: (count) => received.until((answers) => answers.length >= count),
    untilEnd: () => received.until(received.isEnded),
    async untilReset(everyMs) {
      socket.removeAllListeners('end')
      const timer = setInterval(() => socket.write('x'), everyMs)
      const failure = await received.failed
      clearInterval(timer)
      assert.match(failure, /ECONNRESET|EPIPE/)
    },
  }
}

function createReceived(heads: readonly number[]) {
  const answers: RawAnswer[] = []
  const stirred = new EventTarget()
  const failed = Promise.withResolvers<string>()
  let rest = ''
  let isEnded = false
  let failure = ''

  /** Whatever is no answer is an error, and so is a rest once the connection has ended. */
  function read(): void {
    let at = 0
    for (;;) {
      const answer = readAnswer(rest, at, heads.includes(answers.length))
      if (answer === null) break
      answers.push(answer)
      at += answer.text.length
    }
    rest = rest.slice(at)
    if (isEnded && rest !== '') failure = 'ended within an answer'
  }

  function stir(): void {
    stirred.dispatchEvent(new Event('stir'))
  }

  return {
    isEnded: () => isEnded,
    add(text: string) {
      rest += text
      stir()
    },
    end() {
      isEnded = true
      stir()
    },
    fail(error: Error) {
      failure ||= error.message
      failed.resolve(error.message)
      stir()
    },
    /** What the socket failed of, if it ever does. */
    failed: failed.promise,
    async until(isDone: (answers: RawAnswer[]) => boolean): Promise<RawAnswer[]> {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      for (;;) {
        read()
        if (failure === '' && isDone(answers)) return answers
        if (isEnded) failure ||= 'ended'
        if (signal.aborted) failure ||= `nothing came for ${PATIENCE_MS} ms`
        if (failure !== '')
          throw new Error(`${failure}, after ${answers.length} answers and '${rest.slice(0, 500)}'`)
        await once(stirred, 'stir', { signal }).catch(() => {})
      }
    },
  }
}
