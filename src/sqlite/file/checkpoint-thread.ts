import { Worker } from 'node:worker_threads'

/** Copies the write-ahead log into the database file on a thread that waits for the disk. */
export interface CheckpointThread {
  /**
   * Copies what the log has now, and calls back. Beside a writer it rarely reaches the end of the
   * log. One copy at a time.
   */
  copy(done: () => void): void
  /** Closes the thread's connection, after the copy under way. Nothing is called back then. */
  close(): Promise<void>
}

/** In megabytes. The thread keeps one connection and no data. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 }

/**
 * The thread starts with the first copy, and opens the file then. It never creates the file. If the
 * thread ends, even because it can't open the file, `onFault` gets the reason, and a copy does
 * nothing from then on.
 */
export function createCheckpointThread(
  path: string,
  onFault: (fault: unknown) => void,
): CheckpointThread {
  let worker: Worker | null = null
  let ended = Promise.resolve()
  let hasEnded = false
  let isClosed = false
  let waiting: (() => void) | null = null

  function start(): Worker {
    const started = new Worker(new URL('./checkpoint-thread-main.js', import.meta.url), {
      workerData: path,
      // No module that NODE_OPTIONS preloads.
      execArgv: [],
      env: {},
      resourceLimits: MEMORY,
      // The thread prints nothing. Node.js would make our standard output non-blocking for it.
      stdout: true,
      stderr: true,
    })
    let cause: unknown
    ended = new Promise((resolve) => started.once('exit', () => resolve()))
    started.on('message', finish)
    started.on('error', (error) => (cause = error))
    started.on('exit', () => {
      hasEnded = true
      if (!isClosed) onFault(new CheckpointThreadEnded(path, { cause }))
      finish()
    })
    // After the listeners, because one for messages keeps the process running.
    started.unref()
    return started
  }

  /** The thread has made a copy, or has ended. */
  function finish(): void {
    const done = waiting
    waiting = null
    if (!isClosed) done?.()
  }

  return {
    copy(done) {
      waiting = done
      if (hasEnded) {
        setImmediate(finish)
        return
      }
      try {
        worker ??= start()
        worker.postMessage('copy')
      } catch (cause) {
        // The system has no thread left. The batch that asks for the copy is committed already.
        hasEnded = true
        onFault(new CheckpointThreadEnded(path, { cause }))
        setImmediate(finish)
      }
    },

    async close() {
      isClosed = true
      if (worker === null || hasEnded) return
      worker.ref()
      worker.postMessage('close')
      await ended
    },
  }
}

class CheckpointThreadEnded extends Error {
  override name = 'CheckpointThreadEnded'

  constructor(path: string, options: ErrorOptions) {
    super(
      `the thread that copies the write-ahead log into ${path} has ended. The thread that serves ` +
        'copies it now, and requests wait meanwhile. Restart the service to get the thread back',
      options,
    )
  }
}
