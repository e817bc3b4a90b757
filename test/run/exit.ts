import { relative } from 'node:path'
import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into every test process. A process that still runs after its last test has leaked a
 * socket, timer or child. Node's --test-force-exit would hide the leak, and waiting would hang the
 * whole run without a message.
 */

/** The time for a file's own `after` hooks, such as removing a database cluster. */
const GRACE_MS = Number(process.env.EXIT_GRACE_MS ?? 30_000)

/** The exit code that the reporter recognizes. */
export const DID_NOT_EXIT = 86

// A forked child inherits --import and the environment, but it has a channel to its parent.
const isTestProcess =
  process.env.NODE_TEST_CONTEXT !== undefined && isMainThread && process.channel === undefined
if (isTestProcess)
  after(() => {
    const end = () => {
      const file = relative('', process.argv[1] ?? '')
      const held = process.getActiveResourcesInfo().join(', ')
      console.error(`${file} did not exit ${GRACE_MS} ms after its last test. Still open: ${held}`)
      process.exit(DID_NOT_EXIT)
    }
    // The timer alone does not keep the process running.
    setTimeout(end, GRACE_MS).unref()
  })
