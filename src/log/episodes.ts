/** An episode ends when its subject has caused no fault for this long. */
const EPISODE_MS = 60_000
const EPISODES_MAX = 1_000

/**
 * Faults that last: all faults of one subject within an episode are the same object, so that the
 * log has one line.
 */
export interface Episodes<Fault> {
  faultOf(subject: string): Fault
  /** The next fault of the subject begins another episode. */
  end(subject: string): void
}

export function createEpisodes<Fault extends { isLasting: boolean }>(
  begin: (subject: string) => Fault,
  now: () => number,
): Episodes<Fault> {
  const episodes = new Map<string, { fault: Fault; metAt: number }>()
  return {
    faultOf(subject) {
      const before = episodes.get(subject)
      const isOver = before === undefined || now() - before.metAt > EPISODE_MS
      const fault = isOver ? begin(subject) : before.fault
      fault.isLasting = true
      episodes.delete(subject)
      // Maps keep the order of insertion, so the first one is the one that was met least recently.
      if (episodes.size >= EPISODES_MAX) episodes.delete(episodes.keys().next().value!)
      episodes.set(subject, { fault, metAt: now() })
      return fault
    },

    end(subject) {
      if (episodes.size > 0) episodes.delete(subject)
    },
  }
}

/** Reports the first fault of each episode of one subject. */
export interface Reporter {
  /** `describe` is called for a fault that is reported. */
  meet(describe: () => unknown): void
  /** The next fault begins another episode. */
  end(): void
}

/** `now` is in milliseconds. */
export function createReporter(
  report: (fault: unknown) => void,
  now: () => number = () => performance.now(),
): Reporter {
  let metAt = Number.NEGATIVE_INFINITY
  return {
    meet(describe) {
      const isNew = now() - metAt > EPISODE_MS
      metAt = now()
      if (isNew) report(describe())
    },

    end() {
      metAt = Number.NEGATIVE_INFINITY
    },
  }
}
