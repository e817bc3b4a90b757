import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { loadConfig } from '../../terminal/context.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { print, printJson } from '../../terminal/output.ts'
import { askReadiness, type Readiness, readinessUrl, sentenceOf } from '../readiness.ts'
import { readNumber } from '../../terminal/spans.ts'
import type { Shell } from '../../terminal/shell.ts'

/** The interval between two tries with `--wait`. */
const RETRY_MS = 200
const WAIT_MAX_SECONDS = 3_600

interface Options {
  wait?: string
  json?: true
}

export function addHealthCommand(program: Command, shell: Shell): void {
  program
    .command('health')
    .description('ask the running service on OPS_HOST and OPS_PORT whether it is ready')
    .option('--wait <seconds>', 'try again until it is ready, for at most this number of seconds')
    .option('--json', 'print the checks as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  server-listing health\n  server-listing health --wait 30\n\n' +
        'Exit codes: 0 ready, 1 not ready, 2 wrong command line or environment.',
    )
    .action((options) => health(shell, options))
}

async function health(shell: Shell, { wait, json }: Options): Promise<void> {
  const waitMs = 1_000 * readNumber(wait ?? '0', '--wait', 0, WAIT_MAX_SECONDS)
  const config = loadConfig(shell)
  if (config.opsPort === 0)
    throw new Misuse('OPS_PORT must be the port of the running service, not 0')
  const readiness = await askUntil(readinessUrl(config), performance.now() + waitMs)
  if (json) printJson(shell, readiness)
  if (!readiness.ready) throw new Failure(`not ready: ${sentenceOf(readiness)}`)
  if (!json) print(shell, 'ready')
}

async function askUntil(url: string, until: number): Promise<Readiness> {
  for (;;) {
    const readiness = await askReadiness(url)
    if (readiness.ready || performance.now() >= until) return readiness
    await delay(RETRY_MS)
  }
}
