import { DatabaseSync, StatementSync } from 'node:sqlite'
import { createTrap, type Disturbance, type Trap } from './trap.ts'

export interface SqliteDisturbance extends Disturbance {
  /** What stands in the place of the call. */
  disturb(call: () => unknown): unknown
}

/** The disk fails: the call is not made. */
export const REFUSED: SqliteDisturbance = { name: 'refused', disturb: fail }
/** The call is made, and an error comes of it all the same. */
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
/** The disk fails from this call on, also for whatever would clear up. */
export const DOWN: SqliteDisturbance = { name: 'refused from then on', disturb: fail, lasts: true }
/** The engine is synchronous, so that nothing can hang but a call that takes long: each from this one on. */
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

/** As node:sqlite throws it. */
function sqliteError(errcode: number, errstr: string): Error {
  return Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr })
}

const METHODS = [
  [DatabaseSync.prototype, ['exec', 'prepare']],
  [StatementSync.prototype, ['run', 'get', 'all', 'iterate']],
] as const

/** Lays the trap in the driver, for all of this process. */
export function trapSqlite(): Trap<SqliteDisturbance> {
  const trap = createTrap<SqliteDisturbance>()
  for (const [prototype, names] of METHODS)
    for (const name of names) {
      const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>
      const original = methods[name]!
      methods[name] = function (this: unknown, ...args) {
        const disturbance = trap.next(name)
        const call = () => original.apply(this, args)
        return disturbance === null ? call() : disturbance.disturb(call)
      }
    }
  return trap
}
