import { once } from 'node:events'
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

/** If the thread ends, `onFault` gets the reason, and a copy does nothing from then on. */
export function startCheckpointThread(
  path: string,
  onFault: (fault: unknown) => void,
): CheckpointThread {
  const program = new URL('./checkpoint-thread-main.js', import.meta.url)
  const worker = new Worker(program, {
    workerData: path,
    execArgv: [],
    resourceLimits: MEMORY,
    // The thread prints nothing. Node.js would make our standard output non-blocking for it.
    stdout: true,
    stderr: true,
  })
  const ended = once(worker, 'exit').catch(() => {})
  let hasEnded = false
  let isClosed = false
  let copied: (() => void) | null = null

  function finish(): void {
    const done = copied
    copied = null
    if (!isClosed) done?.()
  }

  worker.on('message', finish)
  worker.on('error', (cause) => onFault(new CheckpointThreadEnded(path, { cause })))
  worker.on('exit', () => {
    hasEnded = true
    finish()
  })
  // Last, because a listener for messages keeps the process running.
  worker.unref()

  return {
    copy(done) {
      copied = done
      if (hasEnded) setImmediate(finish)
      else worker.postMessage('copy')
    },

    async close() {
      isClosed = true
      if (hasEnded) return
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
