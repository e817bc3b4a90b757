import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawAnswer, readAnswer } from './read-answer.ts'

/** The timeout of each step. Tests in which most steps fail set less. */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 30_000)

/** One connection of a client that sends exact bytes and checks every byte it receives. */
export interface RawClient {
  socket: Socket
  /** Sends a Latin-1 string in one piece. */
  send(text: string): void
  /** Sends pieces of this many bytes, each in its own packet. Stops when the service has closed. */
  sendInPieces(text: string, size: number): Promise<void>
  /** Resolves with the answers as soon as there are this many. */
  answers(count: number): Promise<RawAnswer[]>
  /** Resolves with all answers when the service has ended the connection. A reset is an error. */
  untilEnd(): Promise<RawAnswer[]>
  /** Keeps sending single bytes until the service resets the connection. */
  untilReset(everyMs: number): Promise<void>
}

/**
 * Opens a connection. The client's side stays open until the service's side ends. `heads` are the
 * indexes of answers to HEAD.
 */
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
        // The service shares this process and reads the bytes in the next turn of the event loop.
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
  /** The bytes that `rest` needs before it is worth reading. Each reading copies all of `rest`. */
  let needed = 0
  let isEnded = false
  let failure = ''

  /** Bytes that are not an answer are an error, and so are leftover bytes at the end. */
  function read(): void {
    if (rest.length >= needed) {
      let at = 0
      for (;;) {
        const answer = readAnswer(rest, at, heads.includes(answers.length))
        if (typeof answer === 'number') {
          rest = rest.slice(at)
          needed = answer
          break
        }
        answers.push(answer)
        at += answer.text.length
      }
    }
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
    /** The socket's error, if any. */
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
