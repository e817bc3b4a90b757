import type { Outcome } from '../outcome.ts'

/** What is sent, and all that may come of it. */
export interface Case {
  name: string
  /**
   * One character for each byte. KEY stands for a good key that was not used yet, CUT_OFF for one without its last
   * character, UPPER_CASE for one whose part behind the fixed prefix is in upper case, and REVOKED for one that was
   * used and then revoked within this second.
   */
  send: string
  /** In order. */
  answers: Outcome[]
  /** Whether the last answer says so and the connection ends after it. Otherwise another request has to be answered. */
  closes: boolean
}

export const AUTHORIZED = 'Authorization: Bearer KEY'

/** The head of a request, with a Host. */
export function hosted(line: string, ...fields: string[]): string {
  return bare(line, 'Host: example.com', ...fields)
}

/** The same without. */
export function bare(line: string, ...fields: string[]): string {
  return [line, ...fields, '', ''].join('\r\n')
}

/** A case that leaves the connection open. */
export function kept(name: string, send: string, ...answers: Outcome[]): Case {
  return { name, send, answers, closes: false }
}

/** A case that ends it. */
export function closed(name: string, send: string, ...answers: Outcome[]): Case {
  return { name, send, answers, closes: true }
}
