import { CUT, DOWN, REFUSED, SILENT, SLOW, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'

/*
 * Every disturbance at every call; how it is run stands in `every-sqlite.ts`.
 */

const answered = [REFUSED, CUT, UNSURE, DOWN, SLOW]
const all = [...answered, SILENT]

postgresSuite({
  requests: all,
  reading: all,
  changing: all,
  password: all,
  // A command has a minute's patience and a migration has all there is, so that silence is not waited for.
  commands: answered,
  migrate: answered,
  copy: answered,
})
