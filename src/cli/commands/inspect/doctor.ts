import type { Command } from 'commander'
import { type Config, ownUrlOf } from '../../../config/config.ts'
import { inspectIgnored } from '../../../config/database-url.ts'
import { type Finding, ok, problem, warning } from '../../../model/health/finding.ts'
import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { countOf } from '../../../model/text.ts'
import { inspectStore } from '../../../open-store.ts'
import { loadConfig, loadDatabase } from '../../../terminal/context.ts'
import { inspectBackupFolder } from '../../doctor/backup-folder.ts'
import { inspectPublished } from '../../doctor/published.ts'
import { askReadiness, readinessUrl, sentenceOf } from '../../readiness.ts'
import { inspectVariables } from '../../doctor/variables.ts'
import { Failure } from '../../../terminal/errors.ts'
import { print, printJson } from '../../../terminal/output.ts'
import type { Shell } from '../../../terminal/shell.ts'

export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('look for what is wrong with the service, and say what to do')
    .option('--backups <folder>', 'also look at the folder that `backup` writes to')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Looks at the environment, the database and its files, the clocks, the last backup, the running
service, the public URLs and the identity provider. Changes nothing, and works whether the service
runs or not. Run it with the environment of the service, as its user or as root.

Examples:
  server-listing doctor --env-file /etc/server-listing.env
  server-listing doctor --backups /var/backups/server-listing --json

Exit codes: 0 no problem, warnings or not; 1 a problem; 2 wrong command line or environment.`,
    )
    .action((options) => diagnose(shell, options))
}

interface Options {
  backups?: string
  json?: true
}

async function diagnose(shell: Shell, { backups, json }: Options): Promise<void> {
  const config = loadConfig(shell)
  const findings = [
    inspectVariables(shell.env),
    ...inspectIgnored(config.database, shell.env),
    ...(await inspectStore(loadDatabase(shell))),
    ...(backups === undefined ? [] : [inspectBackupFolder(backups)]),
    await inspectService(config),
    ...(await inspectPublished(config)),
    ...(await inspectProvider(config)),
    ...(await inspectTokens(config)),
  ]
  if (json) printJson(shell, findings)
  else print(shell, findings.map(lineOf).join('\n'))
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (problems > 0) throw new Failure(`the doctor found ${countOf(problems, 'problem')}`)
}

/** Asks the running service whether it is ready. */
async function inspectService(config: Config): Promise<Finding> {
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

/** Most services have no identity provider, and load none of its code. */
async function inspectProvider(config: Config): Promise<Finding[]> {
  const { oidc, dashboardUrl, host, dashboardPort } = config
  if (oidc === null) return []
  const inspect = await import('../../../accounts/sign-in/oidc/inspect.ts')
  return inspect.inspectProvider(oidc, dashboardUrl ?? ownUrlOf(host, dashboardPort))
}

async function inspectTokens({ management }: Config): Promise<Finding[]> {
  if (management === null) return []
  const { countTokens } = await import('../../../management/tokens.ts')
  try {
    return [ok('management_tokens', countOf(countTokens(management.tokensFile), 'token'))]
  } catch (error) {
    const advice = 'correct the file; until then the service refuses every token'
    return [problem('management_tokens', (error as Error).message, advice)]
  }
}

/** The width of the longest state, and a gap. */
const INDENT = 'problem'.length + 2

function lineOf({ check, state, found, advice }: Finding): string {
  const line = escapeInvisible(`${state.padEnd(INDENT)}${check}: ${found}`)
  return advice === null ? line : `${line}\n${' '.repeat(INDENT)}→ ${advice}`
}
