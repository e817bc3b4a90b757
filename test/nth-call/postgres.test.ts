import { CUT, DOWN, REFUSED, SILENT, SLOW, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'

/*
 * What there is time for in every run; `every-postgres.ts` has the whole.
 */

postgresSuite({
  requests: [REFUSED, CUT, UNSURE, DOWN, SLOW, SILENT],
  reading: [DOWN],
  changing: [REFUSED, UNSURE],
  password: [CUT],
  commands: [UNSURE],
  migrate: [CUT],
})
