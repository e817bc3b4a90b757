import { DOWN, LOCKED, REFUSED, SLOW, UNSURE } from './sqlite-driver.ts'
import { sqliteSuite } from './sqlite-suite.ts'

/*
 * Every fault at every call. On SQLite that takes about seven minutes on two busy cores, most of it
 * for the pairs. PostgreSQL is slower per pair, so the second command leaves the pairs out.
 *
 *   cd test/reliability/fault-injection
 *   node --test every-sqlite.ts
 *   node --test --test-skip-pattern=pairs every-postgres.ts
 */

const all = [REFUSED, UNSURE, LOCKED, DOWN, SLOW]

sqliteSuite({
  requests: all,
  reading: all,
  changing: all,
  password: all,
  commands: all,
  restore: { disturbances: all, stride: 1 },
  migrate: all,
  // The service repeats a locked call, so an act with one never fails.
  pairs: { disturbances: [REFUSED, UNSURE, DOWN], count: 'all' },
})
