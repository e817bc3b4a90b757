import type { Database } from '../database/database.ts'
import type { Actor } from '../model/audit.ts'
import type { Answer } from './answers.ts'

/** What the routes need from the service. */
export interface Management {
  database: Database
  /** Email addresses of operators, in lower case. */
  operators: readonly string[]
  dashboardUrl: string
  /** False if a sign-in link sets no password, and so needs no email address. */
  passwords: boolean
}

/** A request of a known token. */
export interface Call {
  /** The parts of the path that the route leaves open, decoded. */
  parameters: readonly string[]
  query: URLSearchParams
  /** Undefined without a body. */
  body: unknown
  /** The token, now. */
  actor: Actor
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE'
  path: RegExp
  /** The parameters that the query may have. */
  query?: readonly string[]
  answer(management: Management, call: Call): Promise<Answer>
}
