import type { Backlog } from './backlog.ts'

/** The longest wait for a batch as large as the running ones, in milliseconds. */
const GATHER_MS = 4

/**
 * When the next batch begins. A small batch costs PostgreSQL nearly as much as a large one. Beside
 * a running batch, it waits until it is as large, or for GATHER_MS.
 */
export interface Gathering {
  /** True if a free decider gets a batch now. Otherwise calls `resume` after the wait. */
  isOver(): boolean
  /** To be called when a batch begins, with the claims that run from now on. */
  begin(claims: number): void
  /** To be called when these claims are decided. */
  finish(claims: number): void
  /** From now on, no batch waits for more claims. */
  close(): void
  isClosed(): boolean
}

export function createGathering(
  backlog: Pick<Backlog, 'count' | 'isFull'>,
  resume: () => void,
): Gathering {
  let running = 0
  let timer: NodeJS.Timeout | null = null
  let isDue = false
  let isClosed = false

  return {
    isOver() {
      const waiting = backlog.count()
      if (waiting === 0) return false
      if (isDue || isClosed || waiting >= running || backlog.isFull()) return true
      timer ??= setTimeout(() => {
        timer = null
        isDue = true
        resume()
      }, GATHER_MS)
      return false
    },

    begin(claims) {
      running += claims
      isDue = false
      if (timer === null) return
      clearTimeout(timer)
      timer = null
    },

    finish(claims) {
      running -= claims
    },

    close() {
      isClosed = true
    },

    isClosed: () => isClosed,
  }
}
