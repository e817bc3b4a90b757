import { nemesisTests } from './nemesis-tests.ts'
import { openSqliteBattlefield } from './sqlite-battlefield.ts'

/*
 * On SQLite: the service is killed and stopped, its file locked and its tables taken away, while keys are issued and
 * revoked and lists change; and no client ever sees anything that is not promised.
 */

nemesisTests('SQLite', openSqliteBattlefield, { ms: 8_000 })
