import type { Failure, Incident, Operation } from './record.ts'
import { AUTHENTICATION_FAILED, LISTS_FAILED } from './expected-answers.ts'

/** How long a transaction can outlive the process or connection that began it, in microseconds. */
export const AFTERMATH = 2_500_000

/** Returns how a request failed; null if it did not. */
export function failureOf({ operation, status, body }: Operation): Failure | null {
  if (operation !== 'get' && operation !== 'health') return null
  if (status === 0) return 'no answer'
  if (status !== 502) return null
  return body === LISTS_FAILED ? 'list' : 'authentication'
}

/** True if the request may have been granted although no answer acknowledged the commit. */
export function isUnknown({ status, body }: Operation): boolean {
  return status === 0 || (status === 502 && body === AUTHENTICATION_FAILED)
}

/** Returns the incidents that touch a request and overlap it, with their aftermath. */
export function incidentsMet(incidents: readonly Incident[], request: Operation): Incident[] {
  return incidents.filter(
    (incident) =>
      request.t0 < incident.t1 + incident.aftermath &&
      request.t1 > incident.t0 &&
      touches(incident, request),
  )
}

export function touches({ key, owner, process }: Incident, request: Operation): boolean {
  return (
    (key === '' || key === request.key) &&
    (owner === '' || owner === request.owner) &&
    (process === 0 || process === request.process)
  )
}

/**
 * Returns the last instant at which the store can have recorded an unacknowledged request as a
 * granted claim.
 */
export function lastEffectOf(request: Operation, incidents: readonly Incident[] | null): number {
  const orphaning = incidentsMet(incidents ?? [], request).filter(({ orphans }) => orphans)
  if (orphaning.length === 0) return request.t1
  return Math.max(request.t1, ...orphaning.map(({ t1 }) => t1)) + AFTERMATH
}
