import { once } from 'node:events'
import { connect } from 'node:net'
import { readAnswer } from '../wire/read-answer.ts'
import { stateShown } from './listing.ts'
import { now, type Operation } from './record.ts'
import type { Subject } from './scene.ts'

/** After which a client gives a request up, in milliseconds: longer than a process is ever stopped for. */
const PATIENCE_MS = 5_000

let connections = 0

/** A client's connection that stays open, and records what is asked and answered on it. */
export interface Connection {
  /** Sends the requests in one piece, `null` being one for the health, and waits for what becomes of them. */
  ask(asked: readonly (Subject | null)[]): Promise<Operation[]>
  isOpen(): boolean
  close(): void
}

interface Pending {
  subject: Subject | null
  t0: number
  place: number
  settle(operation: Operation): void
}

/** Null where nobody listens. */
export async function openConnection(
  port: number,
  operations: Operation[],
): Promise<Connection | null> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  try {
    await once(socket, 'connect')
  } catch {
    return null
  }
  connections += 1
  const connection = connections
  const pending: Pending[] = []
  let isOpen = true
  let place = 0
  let received = ''

  function settle(status: number, body: string): void {
    const { subject, settle, ...rest } = pending.shift() ?? unasked()
    const operation: Operation = {
      operation: settle === null ? 'unasked' : subject === null ? 'health' : 'get',
      key: subject?.name ?? '',
      owner: subject?.owner.name ?? '',
      ...rest,
      t1: now(),
      status,
      body: status === 0 ? body : wordFor(status, body, subject),
      connection,
    }
    operations.push(operation)
    settle?.(operation)
  }

  function unasked() {
    place += 1
    return { subject: null, t0: now(), place, settle: null }
  }

  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (;;) {
      const answer = readAnswer(received, 0, false)
      if (answer === null) return
      received = received.slice(answer.text.length)
      settle(answer.status, answer.body)
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isOpen = false
    while (pending.length > 0) settle(0, '')
  })

  return {
    ask(asked) {
      const t0 = now()
      const answers = asked.map((subject) => {
        place += 1
        const { promise, resolve } = Promise.withResolvers<Operation>()
        pending.push({ subject, t0, place, settle: resolve })
        return promise
      })
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

function wordFor(status: number, body: string, subject: Subject | null): string {
  if (subject === null) return body
  if (status === 200) return stateShown(body, subject.owner.name, subject.owner.size)
  return (JSON.parse(body) as { error: string }).error
}
