/** An episode ends when its subject has caused no fault for this long. */
const EPISODE_MS = 60_000
const EPISODES_MAX = 1_000

/**
 * Faults that last: all faults of one subject within an episode are the same object. It is reported
 * once, and however many requests fail with it, the log has one line.
 */
export interface Episodes<Fault> {
  /** The fault of the episode. `describe` makes the one with which an episode begins. */
  meet(describe: () => Fault, subject?: string): Fault
  /**
   * The next fault of the subject begins another episode. Returns how many milliseconds this one
   * has lasted; null if there was none.
   */
  end(subject?: string): number | null
}

/** `report` gets the fault of each episode when it begins. `now` is in milliseconds. */
export function createEpisodes<Fault>(
  report: (fault: Fault) => void,
  now: () => number = () => performance.now(),
): Episodes<Fault> {
  const episodes = new Map<string, { fault: Fault; begunAt: number; metAt: number }>()
  return {
    meet(describe, subject = '') {
      const metAt = now()
      const before = episodes.get(subject)
      const isNew = before === undefined || metAt - before.metAt > EPISODE_MS
      const episode = isNew ? { fault: describe(), begunAt: metAt, metAt } : { ...before, metAt }
      episodes.delete(subject)
      // Maps keep the order of insertion, so the first one is the one that was met least recently.
      if (episodes.size >= EPISODES_MAX) episodes.delete(episodes.keys().next().value!)
      episodes.set(subject, episode)
      if (isNew) report(episode.fault)
      return episode.fault
    },

    end(subject = '') {
      const ended = episodes.size > 0 && episodes.get(subject)
      if (!ended) return null
      episodes.delete(subject)
      return now() - ended.begunAt
    },
  }
}
