import type { Command } from 'commander'
import type { Finding } from '../../../listing/health/finding.ts'
import { escapeInvisible } from '../../../listing/invisible.ts'
import { countOf } from '../../../listing/text.ts'
import { inspectStore } from '../../../open-store.ts'
import { loadConfig, loadDatabase } from '../../context.ts'
import { inspectPublished } from '../../doctor/published.ts'
import { inspectService } from '../../doctor/service.ts'
import { inspectVariables } from '../../doctor/variables.ts'
import { Failure } from '../../errors.ts'
import { print, printJson } from '../../output.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look for what is wrong with the service, and say what to do')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Looks at the environment, the database and its files, the clocks, the last backup, the running
service and the public URLs. Changes nothing, and also works beside the service. Run it as the user
of the service, with its environment.

Example:
  server-listing doctor --env-file /etc/server-listing.env

Exit codes: 0 no problem, warnings or not; 1 a problem; 2 wrong command line or environment.`,
    )
    .action(diagnose)
}

async function diagnose({ json }: { json?: true }): Promise<void> {
  const config = loadConfig()
  const findings = [
    inspectVariables(process.env),
    ...(await inspectStore(loadDatabase())),
    await inspectService(config),
    ...(await inspectPublished(config)),
  ]
  if (json) printJson(findings)
  else print(findings.map(lineOf).join('\n'))
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (problems > 0) throw new Failure(`the doctor found ${countOf(problems, 'problem')}`)
}

/** The width of the longest state, and a gap. */
const INDENT = 'problem'.length + 2

function lineOf({ check, state, found, advice }: Finding): string {
  const line = escapeInvisible(`${state.padEnd(INDENT)}${check}: ${found}`)
  return advice === null ? line : `${line}\n${' '.repeat(INDENT)}→ ${advice}`
}
