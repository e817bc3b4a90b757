/** People of the provider, who sign in one after the other. */
export const PEOPLE = 200

export function nameOf(person: number): string {
  return `person-${person}`
}

/**
 * The provider and the browsers run elsewhere in reality. With this priority, the service and the
 * clients that send claims get a processor before them.
 */
export const LOW_PRIORITY = 5

/** Sign-ins at a fixed rate, whether or not earlier ones are complete. */
export interface SignIns {
  /** The number of the first sign-in. It decides the person and the client address. */
  from: number
  /** Sign-ins per second. */
  rate: number
  /** In milliseconds since 1970. */
  startsAt: number
  seconds: number
  /** Sign-ins that are complete in these first seconds do not count as achieved. */
  uncountedSeconds: number
}

export interface SignedIn {
  /** Complete sign-ins per second while the load lasts. */
  perSecond: number
  /** All complete sign-ins. */
  complete: number
  failed: number
  /** Why one of them failed. */
  failure: string | null
  /** The p99 from the moment a sign-in was due to the dashboard's page, in milliseconds. */
  p99: number
}
