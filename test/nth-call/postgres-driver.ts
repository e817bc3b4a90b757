import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createTrap, type Disturbance, type Trap } from './trap.ts'

export interface PostgresDisturbance extends Disturbance {
  /** What stands in the place of a query. */
  query(client: TrappedClient, call: Call): Promise<unknown>
  /** Why a connection cannot be made; undefined if it can. */
  connect?: () => Error
}

type TrappedClient = pg.Client & {
  connection: { stream: Stream }
  connectionParameters: { query_timeout?: number }
}
type Stream = { pause(): void; resume(): void; destroy(): void }
type Query = { text: string; [option: string]: unknown }
type Call = (query?: Query) => Promise<unknown>

/** The server refuses the statement, and the transaction it stands in. */
export const REFUSED: PostgresDisturbance = {
  name: 'refused',
  query: (_, call) => call({ text: 'DO $$ BEGIN RAISE disk_full; END $$' }),
  connect: unreachable,
}
/** The connection is lost before the statement is sent. */
export const CUT: PostgresDisturbance = { name: 'cut off', query: cut, connect: unreachable }
/** The statement is carried out, and the connection lost before the answer is here. */
export const UNSURE: PostgresDisturbance = {
  name: 'carried out, and cut off',
  async query(client, call) {
    await call()
    return cut(client, call)
  },
  connect: unreachable,
}
/** There is no server from then on. */
export const DOWN: PostgresDisturbance = { ...CUT, name: 'cut off from then on', lasts: true }
/** The answer is late, and so is each one after it. */
export const SLOW: PostgresDisturbance = {
  name: 'slow from then on',
  lasts: true,
  async query(_, call) {
    await delay(2)
    return call()
  },
}
/**
 * Nothing is heard of the server any more. The service has to end this by its own limits, of which one that a client
 * keeps to is met in an eightieth of its time.
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
const HASTE = 80

function cut(client: TrappedClient, call: Call): Promise<unknown> {
  client.connection.stream.destroy()
  return call()
}

function unreachable(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
}

/** Lays the trap in the driver, for all of this process. */
export function trapPostgres(): Trap<PostgresDisturbance> {
  const trap = createTrap<PostgresDisturbance>()
  const { prototype } = pg.Client as unknown as { prototype: Record<string, Method> }
  const { query, connect } = prototype as { query: Method; connect: Method }

  prototype.query = function (this: TrappedClient, ...args) {
    const disturbance = trap.next('query')
    if (disturbance === null) return query.apply(this, args)
    const own = typeof args[0] === 'string' ? { text: args[0] } : (args[0] as Query)
    const limit = this.connectionParameters.query_timeout
    const hasty = disturbance === SILENT && limit ? { query_timeout: limit / HASTE } : {}
    const call: Call = (other) =>
      (other === undefined
        ? query.call(this, { values: args[1], ...own, ...hasty })
        : query.call(this, other)) as Promise<unknown>
    return disturbance.query(this, call)
  }

  prototype.connect = function (this: TrappedClient, ...args) {
    const refusal = trap.next('connect')?.connect?.()
    const [callback] = args as [((error: Error) => void)?]
    if (refusal === undefined) return connect.apply(this, args)
    if (callback === undefined) return Promise.reject(refusal)
    process.nextTick(callback, refusal)
    return undefined
  }
  return trap
}

type Method = (this: TrappedClient, ...args: unknown[]) => unknown
