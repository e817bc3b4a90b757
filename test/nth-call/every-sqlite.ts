import { DOWN, LOCKED, REFUSED, SLOW, UNSURE } from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * Every disturbance at every call, which takes a minute or two:
 *
 *   node --test test/nth-call/every-sqlite.ts test/nth-call/every-postgres.ts
 */

const all = [REFUSED, UNSURE, LOCKED, DOWN, SLOW]

sqliteSuite({
  requests: all,
  reading: all,
  changing: all,
  password: all,
  commands: all,
  migrate: all,
})
