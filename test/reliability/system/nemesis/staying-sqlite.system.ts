import { suite } from 'node:test'
import { openSqliteBattlefield } from '../../history/battlefield/sqlite-battlefield.ts'
import { stayingTests } from '../../history/staying-tests.ts'

/*
 * One fault stays on SQLite for thirty seconds. Another program's snapshot affects nothing. Its
 * write lock fails all claims, honestly, until it is released.
 */

const FAULTS = ['a snapshot left open', 'file locked']

suite('SQLite', { concurrency: FAULTS.length }, () => {
  stayingTests(FAULTS, (t) => openSqliteBattlefield(t), 30_000)
})
