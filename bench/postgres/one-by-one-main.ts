import { createLog } from '../../src/log/log.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { serveStore } from '../serve-store.ts'

/*
 * The real service, except that each batch has one call. Argument: the URL of the database.
 */

const log = createLog('info')
const options = { onFault: log.fault, batchMax: 1 }
await serveStore(await openServingPostgresStore(process.argv[2]!, options), log)
