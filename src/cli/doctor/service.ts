import type { Config } from '../../config/config.ts'
import { type Finding, ok, problem, warning } from '../../model/health/finding.ts'
import { askReadiness, readinessUrl, sentenceOf } from '../readiness.ts'

/** Asks the running service whether it is ready. */
export async function inspectService(config: Config): Promise<Finding> {
  if (config.opsPort === 0)
    return warning(
      'service',
      'OPS_PORT is 0, so the port of the running service is unknown',
      'give OPS_PORT a number',
    )
  const url = readinessUrl(config)
  const readiness = await askReadiness(url)
  if (readiness.ready) return ok('service', `the service is ready at ${url}`)
  const found = sentenceOf(readiness)
  if (readiness.hangs)
    return problem('service', found, 'look at its log and its CPU time, then restart the service')
  // Another machine may run it, or it may not be started yet.
  if (readiness.problem !== undefined)
    return warning('service', found, 'start the service, or run this command with its environment')
  return problem('service', `not ready: ${found}`, 'docs/monitoring.md says what each check asks')
}
