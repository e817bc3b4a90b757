import { CUT, DOWN, REFUSED, SILENT, SLOW, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'
import * as sqlite from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * Every disturbance at every call, on both engines; some minutes:
 *
 *   node --test test/nth-call/every-disturbance.ts
 */

const postgres = [REFUSED, CUT, UNSURE, DOWN, SLOW]
const onSqlite = [sqlite.REFUSED, sqlite.UNSURE, sqlite.LOCKED, sqlite.DOWN, sqlite.SLOW]

sqliteSuite({
  requests: onSqlite,
  reading: onSqlite,
  changing: onSqlite,
  password: onSqlite,
  commands: onSqlite,
  migrate: onSqlite,
})
postgresSuite({
  requests: [...postgres, SILENT],
  reading: [...postgres, SILENT],
  changing: [...postgres, SILENT],
  password: [...postgres, SILENT],
  // Commands have a minute's patience, and a migration has all there is: silence is not waited for.
  commands: postgres,
  migrate: postgres,
})
