import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createTrap, type Disturbance, type Trap } from './trap.ts'

export interface PostgresDisturbance extends Disturbance {
  /** Runs instead of a query. */
  query(client: TrappedClient, call: Call): Promise<unknown>
  /** The reason why no connection can be made; undefined if one can. */
  connect?: () => Error
}

type TrappedClient = pg.Client & {
  connection: { stream: Stream }
  connectionParameters: { query_timeout?: number }
}
type Stream = { pause(): void; resume(): void; destroy(): void }
type Query = { text: string; [option: string]: unknown }
type Call = (query?: Query) => Promise<unknown>

/** The server rejects the statement and aborts its transaction. */
export const REFUSED: PostgresDisturbance = {
  name: 'refused',
  query: (_, call) => call({ text: 'DO $$ BEGIN RAISE disk_full; END $$' }),
  connect: unreachable,
}
/** The connection is lost before the statement is sent. */
export const CUT: PostgresDisturbance = { name: 'cut off', query: cut, connect: unreachable }
/** The statement is executed, and the connection is lost before its answer. */
export const UNSURE: PostgresDisturbance = {
  name: 'executed, and cut off',
  async query(client, call) {
    await call()
    return cut(client, call)
  },
  connect: unreachable,
}
/** The server is gone from this call on. */
export const DOWN: PostgresDisturbance = { ...CUT, name: 'cut off from then on', lasts: true }
/** This answer and all later ones are late. */
export const SLOW: PostgresDisturbance = {
  name: 'slow from then on',
  lasts: true,
  async query(_, call) {
    await delay(2)
    return call()
  },
}
/**
 * The server is silent from this call on, and the service's own time limits must end the wait.
 * Client-side limits are divided by 80, so that the test is fast.
 */
export const SILENT: PostgresDisturbance = {
  name: 'silent',
  query(client, call) {
    paused.push(client.connection.stream)
    client.connection.stream.pause()
    return call()
  },
  heal() {
    for (const stream of paused.splice(0)) stream.resume()
  },
}
const paused: Stream[] = []
const SPEEDUP = 80

function cut(client: TrappedClient, call: Call): Promise<unknown> {
  client.connection.stream.destroy()
  return call()
}

function unreachable(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
}

/** Sets the trap in the driver, for the whole process. */
export function trapPostgres(): Trap<PostgresDisturbance> {
  const trap = createTrap<PostgresDisturbance>()
  const { prototype } = pg.Client as unknown as { prototype: Record<string, Method> }
  const { query, connect } = prototype as { query: Method; connect: Method }

  prototype.query = function (this: TrappedClient, ...args) {
    const own = typeof args[0] === 'string' ? { text: args[0] } : (args[0] as Query)
    const disturbance = trap.next('query', own.text)
    if (disturbance === null) return query.apply(this, args)
    const limit = this.connectionParameters.query_timeout
    const faster = disturbance === SILENT && limit ? { query_timeout: limit / SPEEDUP } : {}
    const call: Call = (other) =>
      (other === undefined
        ? query.call(this, { values: args[1], ...own, ...faster })
        : query.call(this, other)) as Promise<unknown>
    return disturbance.query(this, call)
  }

  prototype.connect = function (this: TrappedClient, ...args) {
    const refusal = trap.next('connect', 'connect')?.connect?.()
    const [callback] = args as [((error: Error) => void)?]
    if (refusal === undefined) return connect.apply(this, args)
    if (callback === undefined) return Promise.reject(refusal)
    process.nextTick(callback, refusal)
    return undefined
  }
  return trap
}

type Method = (this: TrappedClient, ...args: unknown[]) => unknown
