import { CUT, DOWN, REFUSED, SILENT, SLOW, UNSURE } from './postgres-driver.ts'
import { postgresSuite } from './postgres-suite.ts'

/*
 * Every fault at every call. `every-sqlite.ts` says how to run it.
 */

const answered = [REFUSED, CUT, UNSURE, DOWN, SLOW]
const all = [...answered, SILENT]

postgresSuite({
  requests: all,
  reading: all,
  changing: all,
  password: all,
  // Commands wait up to a minute and migrations without limit, so that silence is left out for
  // them.
  commands: answered,
  migrate: answered,
  pairs: { disturbances: [REFUSED, CUT, UNSURE, DOWN], count: 'all' },
})
