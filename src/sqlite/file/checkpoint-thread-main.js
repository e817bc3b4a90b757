import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

/*
 * The checkpoint thread. It gets the path of the database file and copies the write-ahead log for
 * each message until it gets 'close'. JavaScript, because the package has this file as it is.
 */

const file = pathToFileURL(workerData)
// A file that was removed meanwhile is not created again, which would delete its log.
file.searchParams.set('mode', 'rw')
const database = new DatabaseSync(file)
// Other than OFF, so that the log and the file are on the disk before the log can be overwritten.
database.exec('PRAGMA synchronous = NORMAL')
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort.on('message', (message) => {
  if (message === 'close') {
    database.close()
    parentPort.close()
    return
  }
  try {
    checkpoint.get()
  } catch {
    // The log keeps what was not copied. SQLite ignores a failure of its own checkpoints, too.
  }
  parentPort.postMessage('copied')
})
