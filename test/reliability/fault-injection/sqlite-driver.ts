import { DatabaseSync, StatementSync } from 'node:sqlite'
import { createTrap, type Disturbance, type Trap } from './trap.ts'

export interface SqliteDisturbance extends Disturbance {
  /** Runs instead of the call. */
  disturb(call: () => unknown): unknown
}

/** The disk fails, and the call is not made. */
export const REFUSED: SqliteDisturbance = { name: 'refused', disturb: fail }
/** The call is made and returns an error nevertheless. */
export const UNSURE: SqliteDisturbance = {
  name: 'made, with an error',
  disturb(call) {
    call()
    fail()
  },
}
/** Another process holds the lock at this moment. */
export const LOCKED: SqliteDisturbance = {
  name: 'locked',
  disturb() {
    throw sqliteError(5, 'database is locked')
  },
}
/** The disk fails from this call on, also for any cleanup. */
export const DOWN: SqliteDisturbance = { name: 'refused from then on', disturb: fail, lasts: true }
/** This call and all later ones are slow. In a synchronous engine nothing else can hang. */
export const SLOW: SqliteDisturbance = {
  name: 'slow from then on',
  disturb(call) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    return call()
  },
  lasts: true,
}

function fail(): never {
  throw sqliteError(10, 'disk I/O error')
}

/** The error that node:sqlite throws. */
function sqliteError(errcode: number, errstr: string): Error {
  return Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr })
}

const METHODS = [
  [DatabaseSync.prototype, ['exec', 'prepare']],
  [StatementSync.prototype, ['run', 'get', 'all', 'iterate']],
] as const

/** Sets the trap in the driver, for the whole process. */
export function trapSqlite(): Trap<SqliteDisturbance> {
  const trap = createTrap<SqliteDisturbance>()
  for (const [prototype, names] of METHODS)
    for (const name of names) {
      const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>
      const original = methods[name]!
      methods[name] = function (this: unknown, ...args) {
        const statement = this instanceof StatementSync ? this.sourceSQL : String(args[0])
        const disturbance = trap.next(name, statement)
        const call = () => original.apply(this, args)
        return disturbance === null ? call() : disturbance.disturb(call)
      }
    }
  return trap
}
