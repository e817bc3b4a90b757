import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { bind } from './bind.ts'
import type { Connection, Front } from './connection.ts'
import { checkTimes, closeAfterAnswers, openConnection } from './front.ts'
import { LIMITS, type Limits } from './limits.ts'
import type { Application } from './message.ts'
import { createOutbox } from './outbox.ts'
import { createPeerLimit, type PeerRule } from './admission/peer-limit.ts'

export interface Listener {
  host: string
  port: number
  /**
   * Answers the requests that have arrived and refuses later ones. Takes at most `drainGraceMs` and
   * `drainMs`.
   */
  close(): Promise<void>
}

/**
 * Listens for HTTP/1.1 and hands every request to the application. Each request gets exactly one
 * answer in the application's form. Invalid bytes get one too, and then their connection closes.
 */
export async function listen(
  application: Application,
  host: string,
  port: number,
  limits: Limits = LIMITS,
  { peers = null, reusePort = false }: { peers?: PeerRule | null; reusePort?: boolean } = {},
): Promise<Listener> {
  const outbox = createOutbox(limits.keepAliveMs)
  const front: Front = { application, limits, outbox, connections: new Set(), isDraining: false }
  // A client that has closed its sending side still gets its answers.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (admit(socket)) openConnection(front, socket)
  })
  const admit = createAdmission(server, front, peers)
  const address = await bind(server, host, port, reusePort)
  const check = () => {
    const now = performance.now()
    for (const connection of front.connections) checkTimes(front, connection, now)
  }
  // After a stop of the process, what has arrived is read before the check.
  const timer = setInterval(() => setImmediate(check).unref(), limits.checkMs).unref()

  let drained: Promise<void> | null = null
  return {
    ...address,
    close: () => (drained ??= drain(server, front).finally(() => clearInterval(timer))),
  }
}

/** Returns a function that counts a new connection, and closes it or another one if necessary. */
function createAdmission(
  server: Server,
  { connections, limits: { connectionsMax, closedBeyond } }: Front,
  peers: PeerRule | null,
): (socket: Socket) => boolean {
  if (closedBeyond === 'oldest')
    return () => {
      const closed = connections.size < connectionsMax ? undefined : oldestOf(connections)
      if (closed !== undefined) {
        connections.delete(closed)
        closed.socket.destroy()
      }
      return true
    }
  server.maxConnections = connectionsMax
  return peers === null ? () => true : createPeerLimit(connectionsMax, peers)
}

/** The oldest connection without a request under way. If each has one, the oldest of all. */
function oldestOf(connections: ReadonlySet<Connection>): Connection | undefined {
  // A set keeps the order of insertion.
  const [oldest] = connections
  return [...connections].find(({ underWay }) => underWay === 0) ?? oldest
}

async function drain(server: Server, front: Front): Promise<void> {
  const { connections, limits } = front
  front.isDraining = true
  const closed = new Promise((resolve) => server.close(resolve))
  await Promise.race([closed, delay(limits.drainGraceMs, null, { ref: false })])
  for (const connection of connections) closeAfterAnswers(connection)
  await Promise.race([closed, delay(limits.drainMs, null, { ref: false })])
  for (const { socket } of connections) socket.destroy()
  await closed
}
