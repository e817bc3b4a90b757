import { nemesisTests } from './nemesis-tests.ts'
import { openSqliteBattlefield } from './battlefield/sqlite-battlefield.ts'

/*
 * On SQLite, faults kill and stop the service, lock its file and rename its tables while the
 * operator issues and revokes keys and changes lists. No client may see anything that the service
 * does not promise.
 */

nemesisTests('SQLite', openSqliteBattlefield, { ms: 8_000, pauseMs: 300 })
