import type { Person } from '../../../fixtures/person.ts'
import type { Answer } from '../../../fixtures/requests.ts'

/** One request to a route of the dashboard. */
export interface Visit {
  name: string
  /** The route as the program declares it. */
  route: string
  status: number
  /** What a repetition may answer if the first visit succeeded. */
  repeated?: number
  isInParts?: boolean
  /** True for a row that exists only between two of the parts. */
  isBetween?: (table: string, row: string) => boolean
  /** True if the visit starts a session. */
  beginsSession?: boolean
  /** Ada's browser, or one without a session if `isStranger`. */
  visit(person: Person): Promise<Answer>
  isStranger?: boolean
  /** True for a session that is not fresh any more. */
  isLate?: boolean
}

export function posting(
  route: string,
  status: number,
  fields: Record<string, string> = {},
  path = route,
): Visit {
  return {
    name: `POST ${route}`,
    route: `post ${route}`,
    status,
    visit: (person) => person.post(path, fields),
  }
}
