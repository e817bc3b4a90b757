import { DOWN, REFUSED, SILENT, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'

/*
 * What there is time for in every run; `every-postgres.ts` has the whole.
 */

postgresSuite({
  requests: [REFUSED, UNSURE, DOWN, SILENT],
  reading: [SILENT],
  changing: [UNSURE],
  password: [],
  commands: [UNSURE],
  migrate: [],
  copy: [],
})
