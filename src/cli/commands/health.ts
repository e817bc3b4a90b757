import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { ownUrlOf } from '../../config.ts'
import { loadConfig } from '../context.ts'
import { Failure, Misuse } from '../errors.ts'
import { print, printJson } from '../output.ts'
import { readNumber } from '../spans.ts'

/** How long the service may take to answer. */
const ANSWER_MS = 3_000
/** The interval between two tries with `--wait`. */
const RETRY_MS = 200
const WAIT_MAX_SECONDS = 3_600

interface Options {
  wait?: string
  json?: true
}

/** The body of `/readyz`, or why there is none. */
interface Readiness {
  ready: boolean
  checks: Record<string, string>
  problem?: string
}

export function addHealthCommand(program: Command): void {
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
    .action(health)
}

async function health({ wait, json }: Options): Promise<void> {
  const waitMs = 1_000 * readNumber(wait ?? '0', '--wait', 0, WAIT_MAX_SECONDS)
  const { opsHost, opsPort } = loadConfig()
  if (opsPort === 0) throw new Misuse('OPS_PORT must be the port of the running service, not 0')
  const url = `${ownUrlOf(opsHost, opsPort)}/readyz`
  const readiness = await askUntil(url, performance.now() + waitMs)
  if (json) printJson(readiness)
  if (!readiness.ready) throw new Failure(`not ready: ${sentenceOf(readiness)}`)
  if (!json) print('ready')
}

function sentenceOf({ problem, checks }: Readiness): string {
  if (problem !== undefined) return problem
  return Object.entries(checks)
    .filter(([, check]) => check !== 'ok')
    .map(([name, check]) => `${name}: ${check}`)
    .join('; ')
}

async function askUntil(url: string, until: number): Promise<Readiness> {
  for (;;) {
    const readiness = await ask(url)
    if (readiness.ready || performance.now() >= until) return readiness
    await delay(RETRY_MS)
  }
}

async function ask(url: string): Promise<Readiness> {
  try {
    const body = JSON.parse(await read(url)) as Readiness
    if (typeof body.ready === 'boolean' && typeof body.checks === 'object') return body
    return unready(`what answers at ${url} is another program`)
  } catch (error) {
    if (error instanceof SyntaxError) return unready(`what answers at ${url} is another program`)
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    return unready(`no service answers at ${url} (${reason}): is it running with this OPS_PORT?`)
  }
}

function unready(problem: string): Readiness {
  return { ready: false, checks: {}, problem }
}

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, signal: AbortSignal.timeout(ANSWER_MS) }
    const request = get(url, options, (answer) => {
      void text(answer).then(resolve, reject)
    })
    request.on('error', reject)
  })
}
