import { failureOf, incidentsMet } from '../record/incidents.ts'
import type { Failure, History, Operation } from '../record/record.ts'
import { type Violation, violation } from '../record/violation.ts'

const WORDS: Record<Failure, string> = {
  list: 'a list could not be loaded',
  authentication: 'the authentication service failed',
  'no answer': 'no answer came',
}

/** I11: each 502 and each missing answer met a fault that can cause it. */
export function checkFailures({ operations, incidents }: History): Violation[] {
  if (incidents === null) return []
  return operations.flatMap((request) => {
    const failure = failureOf(request)
    if (failure === null || isCaused(request, failure)) return []
    return [violation('I11', `${WORDS[failure]}, and no fault explains it`, [request])]
  })

  function isCaused(request: Operation, failure: Failure): boolean {
    return incidentsMet(incidents!, request).some(({ failures }) => failures.includes(failure))
  }
}
