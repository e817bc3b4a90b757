import { DOWN, LOCKED, REFUSED, UNSURE } from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * The part of `every-sqlite.ts` that is fast enough for every run.
 */

sqliteSuite({
  requests: [REFUSED, UNSURE, LOCKED, DOWN],
  reading: [REFUSED],
  changing: [REFUSED],
  password: [REFUSED],
  commands: [REFUSED],
  // Each restore takes more than a second.
  restore: { disturbances: [REFUSED], stride: 5 },
  migrate: [REFUSED],
  pairs: { disturbances: [DOWN, REFUSED], count: 60 },
})
