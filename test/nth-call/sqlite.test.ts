import { DOWN, LOCKED, REFUSED, SLOW, UNSURE } from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * What there is time for in every run; `every-sqlite.ts` has the whole.
 */

sqliteSuite({
  requests: [REFUSED, UNSURE, LOCKED, DOWN, SLOW],
  reading: [REFUSED],
  changing: [REFUSED, DOWN],
  password: [REFUSED],
  commands: [REFUSED],
  migrate: [REFUSED],
})
