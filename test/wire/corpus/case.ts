import type { Outcome } from '../client/outcome.ts'

/** A text to send, and its expected answers. */
export interface Case {
  name: string
  /**
   * A Latin-1 string with placeholders. KEY is a valid, unused key. CUT_OFF lacks the last
   * character. UPPER_CASE has an upper-case body. REVOKED was used and then revoked within this
   * second.
   */
  send: string
  /** The expected answers, in order. */
  answers: Outcome[]
  /**
   * True if the last answer says `close` and the connection ends. Otherwise another request must be
   * answered.
   */
  closes: boolean
}

export const AUTHORIZED = 'Authorization: Bearer KEY'

/** A request head with a Host. */
export function hosted(line: string, ...fields: string[]): string {
  return bare(line, 'Host: example.com', ...fields)
}

/** A request head without a Host. */
export function bare(line: string, ...fields: string[]): string {
  return [line, ...fields, '', ''].join('\r\n')
}

/** A case after which the connection stays open. */
export function kept(name: string, send: string, ...answers: Outcome[]): Case {
  return { name, send, answers, closes: false }
}

/** A case that ends the connection. */
export function closed(name: string, send: string, ...answers: Outcome[]): Case {
  return { name, send, answers, closes: true }
}
