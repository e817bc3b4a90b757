import { DOWN, REFUSED, SILENT, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'

/*
 * The part of `every-postgres.ts` that is fast enough for every run.
 */

postgresSuite({
  requests: [REFUSED, UNSURE, DOWN, SILENT],
  reading: [SILENT],
  changing: [UNSURE],
  password: [],
  commands: [UNSURE],
  migrate: [],
  pairs: { disturbances: [DOWN, REFUSED], count: 30 },
})
