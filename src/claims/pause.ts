/** How long the queue leaves a locked database alone. */
const PAUSE_MS = 5

/** The pause after an engine found the whole database locked. */
export interface Pause {
  begin(): void
  /** True until `resume` was called. */
  isPending(): boolean
  /** True once the time has passed, even if a busy event loop has not called `resume` yet. */
  isOver(): boolean
}

export function createPause(now: () => number, resume: () => void): Pause {
  let timer: NodeJS.Timeout | null = null
  let until = 0
  return {
    begin() {
      until = now() + PAUSE_MS
      timer ??= setTimeout(() => {
        timer = null
        resume()
      }, PAUSE_MS)
    },

    isPending: () => timer !== null,
    isOver: () => now() >= until,
  }
}
