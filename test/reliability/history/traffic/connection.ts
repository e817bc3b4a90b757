import { connect } from 'node:net'
import { readAnswer } from '../../../wire/client/read-answer.ts'
import { now, type Operation } from '../record/record.ts'
import { recordOutcomes } from './outcomes.ts'
import type { Subject } from './scene.ts'
import { once } from '../../../fixtures/within.ts'

/**
 * Time after which a client gives up, in milliseconds. Two long faults of one process in a row,
 * 5 s each, and the limits of a request fit into it.
 */
const PATIENCE_MS = 20_000

let connections = 0

/** A client's connection. It stays open and records requests and answers. */
export interface Connection {
  /** Sends the requests in one piece (`null` asks for the health) and waits for their outcomes. */
  ask(asked: readonly (Subject | null)[]): Promise<Operation[]>
  isOpen(): boolean
  close(): void
}

/** The port of a process, and its number from 1. */
export interface Listening {
  port: number
  process: number
}

/** Returns null if the process no longer listens. */
export async function openConnection(
  { port, process }: Listening,
  operations: Operation[],
  patienceMs = PATIENCE_MS,
): Promise<Connection | null> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setTimeout(patienceMs, () => socket.destroy())
  try {
    await once(socket, 'connect')
  } catch {
    return null
  }
  connections += 1
  const outcomes = recordOutcomes(operations, { connection: connections, process })
  let isOpen = true
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (;;) {
      const answer = readAnswer(received, 0, false)
      if (typeof answer === 'number') return
      received = received.slice(answer.text.length)
      outcomes.settle(answer)
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isOpen = false
    outcomes.settleAll()
  })

  return {
    ask(asked) {
      const t0 = now()
      const answers = asked.map((subject) => outcomes.expect(subject, t0))
      socket.write(asked.map(requestOf).join(''))
      return Promise.all(answers)
    },
    isOpen: () => isOpen && socket.writable,
    close: () => socket.destroy(),
  }
}

function requestOf(subject: Subject | null): string {
  return subject === null
    ? 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
    : `GET /v1/servers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${subject.key}\r\n\r\n`
}
