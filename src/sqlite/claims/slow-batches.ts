import { createEpisodes } from '../../log/episodes.ts'

/** A slower batch delays all other requests, also those to /health. */
const BATCH_MS_MAX = 250

export class SlowBatch extends Error {
  override name = 'SlowBatch'
}

/** Measures the batches of claims, and the checkpoints between them. */
export interface BatchTimer {
  begin(): void
  /** Call it before the commit. */
  commit(): void
  end(calls: number): void
  endCheckpoint(): void
}

/** `onFault` gets the first slow batch of each episode, with the part that was slow. */
export function createBatchTimer(
  onFault: (fault: unknown) => void,
  now: () => number = () => performance.now(),
): BatchTimer {
  let beganAt = 0
  let committedFrom: number | null = null
  const slow = createEpisodes(onFault, now)

  function noteEnd(sentence: (took: number, committing: number) => string): void {
    const endedAt = now()
    const took = endedAt - beganAt
    if (took <= BATCH_MS_MAX) return
    slow.meet(() => new SlowBatch(sentence(took, endedAt - (committedFrom ?? endedAt))))
  }

  return {
    begin() {
      beganAt = now()
      committedFrom = null
    },

    commit() {
      committedFrom = now()
    },

    end(calls) {
      noteEnd((took, committing) => describe(calls, took, committing))
    },

    endCheckpoint() {
      noteEnd(describeCheckpoint)
    },
  }
}

function describe(calls: number, took: number, committing: number): string {
  const requests = calls === 1 ? '1 request' : `${calls} requests`
  const cause =
    committing > took / 2
      ? `${committing.toFixed()} ms of it to commit: the disk is slow to take what is written`
      : `${(took - committing).toFixed()} ms of it to read: the disk is slow, or the processor is taken by others`
  return `${requests} took ${took.toFixed()} ms, ${cause}; all other requests waited`
}

function describeCheckpoint(took: number): string {
  return `copying the write-ahead log into the file took ${took.toFixed()} ms: the disk is slow to take what is written; all requests waited`
}
