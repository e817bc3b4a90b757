import type { Instant } from '../instant.ts'

/** The subject under which an attempt counts: an account, an address, or both. */
export interface AttemptSubject {
  subject: string
  attemptsMax: number
}

/** The most expired attempts that one request removes. */
export const ATTEMPTS_DROPPED = 100

export interface AttemptStore {
  /**
   * Counts a sign-in attempt under every subject and returns null. If a subject has reached its
   * maximum since `since`, counts nothing and returns the instant of the oldest attempt that
   * blocks. In both cases removes up to ATTEMPTS_DROPPED attempts from before `since`, the oldest
   * first.
   */
  beginAttempt(
    subjects: readonly AttemptSubject[],
    since: Instant,
    now: Instant,
  ): Promise<Instant | null>
  /**
   * After a correct password, removes all attempts under `subjects` and the latest one under
   * `others`.
   */
  forgetAttempts(subjects: readonly string[], others: readonly string[]): Promise<void>
}
