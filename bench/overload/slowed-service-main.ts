import { createClaimQueue } from '../../src/claims/queue.ts'
import { createLog } from '../../src/log/log.ts'
import { createClaims, SQLITE_QUEUE } from '../../src/sqlite/claims/claims.ts'
import { systemClock } from '../../src/sqlite/claims/clock.ts'
import { createBatchTimer } from '../../src/sqlite/claims/slow-batches.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { managementConnection } from '../../src/sqlite/management-connection.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { serveStore } from '../serve-store.ts'
import { slowedClaims } from './slowed.ts'

/*
 * The real service on a SQLite file, with an engine that decides at most PER_SECOND calls per
 * second. Arguments: PATH PER_SECOND.
 */

const [path = '', perSecond = ''] = process.argv.slice(2)

const log = createLog('info')
const store = await openServingSqliteStore(path)
const claiming = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 0 })
const timer = createBatchTimer(log.fault)
const claims = createClaims(claiming, systemClock.bootId ?? '', systemClock, timer)
const { claim } = createClaimQueue([slowedClaims(claims, Number(perSecond))], SQLITE_QUEUE)
const counting = managementConnection(claiming, { lockWaitMs: 2_000 })
// As in the real store, usage counts go over the connection that records claims.
await serveStore({ ...store, counting, claim }, log)
