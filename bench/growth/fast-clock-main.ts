import { presentInstant } from '../../src/model/instant.ts'
import { createLog } from '../../src/log/log.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { serveStore } from '../serve-store.ts'

/*
 * The real service on a SQLite file, with a clock on which every batch is a second after the last
 * one. So a few keys can carry the load. Arguments: PATH cached|anew. With `anew` the store reads
 * each listing from the file.
 */

const [path = '', listings] = process.argv.slice(2)

const log = createLog('info')
let microseconds = 0
const store = await openServingSqliteStore(path, {
  monotonic: () => (microseconds += 1_000_000),
  present: presentInstant,
  bootId: null,
})
const NOTHING_HELD = { get: () => null }
const readAnew = (keyHash: Uint8Array) => store.claim(keyHash, NOTHING_HELD)
await serveStore({ ...store, claim: listings === 'anew' ? readAnew : store.claim }, log)
