/** The subject under which an attempt counts: an account, an address, or both. */
export interface AttemptSubject {
  subject: string
  attemptsMax: number
}

/** The most expired attempts that one request removes. */
export const ATTEMPTS_DROPPED = 100
