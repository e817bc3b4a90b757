import { DOWN, LOCKED, REFUSED, UNSURE } from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * What there is time for in every run; `every-sqlite.ts` has the whole.
 */

sqliteSuite({
  requests: [REFUSED, UNSURE, LOCKED, DOWN],
  reading: [REFUSED],
  changing: [REFUSED],
  password: [REFUSED],
  commands: [REFUSED],
  migrate: [REFUSED],
})
