import { write, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Where the lines of the log go. */
export interface Output {
  write(lines: string): void
  /** Resolves when all lines are written, when they can't be, or after `FLUSH_MS`. */
  flush(): Promise<void>
}

const STANDARD_OUTPUT = 1
/** Characters that wait at most. Further lines are lost. */
const WAITING_MAX = 1_048_576
const RETRY_MS = 100
const FLUSH_MS = 1_000

/**
 * Standard output, for which the service never waits. Lines wait while a pipe is full or a disk has
 * no room, and the next line tries again. At the end of the process, what fits is written at once,
 * and the rest is lost.
 */
export function openOutput(): Output {
  let current = Buffer.alloc(0)
  let waiting = ''
  let state: 'idle' | 'writing' | 'retrying' | 'gone' = 'idle'
  let settle: (() => void) | undefined

  function begin(): void {
    if (current.length === 0) {
      current = Buffer.from(waiting)
      waiting = ''
    }
    if (current.length === 0) {
      end('idle')
      return
    }
    state = 'writing'
    write(STANDARD_OUTPUT, current, (error, written) => {
      if (error === null) {
        current = current.subarray(written)
        begin()
      } else if (error.code === 'EAGAIN') {
        state = 'retrying'
        setTimeout(begin, RETRY_MS).unref()
        // The reader of a pipe does not come back, and a disk can have room again.
      } else end(error.code === 'EPIPE' ? 'gone' : 'idle')
    })
  }

  function end(next: 'idle' | 'gone'): void {
    state = next
    settle?.()
  }

  process.once('exit', () => {
    // The end of the process waits for a write that is under way.
    const left = Buffer.concat([...(state === 'writing' ? [] : [current]), Buffer.from(waiting)])
    try {
      for (let at = 0; at < left.length; ) at += writeSync(STANDARD_OUTPUT, left, at)
    } catch {
      // A full pipe or disk must not keep the process.
    }
  })

  return {
    write(lines) {
      if (state === 'gone' || waiting.length + lines.length > WAITING_MAX) return
      waiting += lines
      if (state === 'idle') begin()
    },

    async flush() {
      if (state === 'idle' || state === 'gone') return
      const settled = new Promise<void>((resolve) => (settle = resolve))
      await Promise.race([settled, delay(FLUSH_MS, undefined, { ref: false })])
    },
  }
}
