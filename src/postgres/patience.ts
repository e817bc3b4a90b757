/** Time limits of waiting, in milliseconds; 0 is no limit. */
export interface Patience {
  /** The server's limits for a statement and for its wait for another session's lock. */
  statementMs: number
  lockMs: number
  /** Our limit for a statement, if the server does not answer at all. */
  queryMs: number
  /** The limit for making a connection or waiting for one. The next host is tried then. */
  connectMs: number
}

/** For the API, where a client waits for each answer. */
export const SERVING: Patience = { statementMs: 800, lockMs: 100, queryMs: 1_000, connectMs: 500 }
/** For the dashboard, where a user waits for the page. */
export const MANAGING: Patience = {
  statementMs: 3_000,
  lockMs: 2_000,
  queryMs: 4_000,
  connectMs: 3_000,
}
/** For commands, which may meet long transactions and write long batches. */
export const COMMAND: Patience = {
  statementMs: 60_000,
  lockMs: 10_000,
  queryMs: 61_000,
  connectMs: 5_000,
}
/** For migrations, which may take as long as they need and wait for other processes. */
export const ENDLESS: Patience = { statementMs: 0, lockMs: 0, queryMs: 0, connectMs: 5_000 }
