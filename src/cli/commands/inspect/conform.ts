import type { Command } from 'commander'
import {
  conform,
  findingsOf,
  type Order,
  type Plan,
  type Report,
} from '../../../../conform/src/conform.ts'
import { jsonReport } from '../../../../conform/src/report/json.ts'
import { junitReport } from '../../../../conform/src/report/junit.ts'
import { textReport } from '../../../../conform/src/report/text.ts'
import { readTarget, type Target } from '../../../../conform/src/wire/target.ts'
import { countOf, quote } from '../../../model/text.ts'
import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { needOption } from '../../../terminal/context.ts'
import { Failure, Misuse } from '../../../terminal/errors.ts'
import { readInput } from '../../../terminal/input.ts'
import { createProgress, print, say } from '../../../terminal/output.ts'
import type { Shell } from '../../../terminal/shell.ts'

interface Options {
  keyFile?: string
  secondKeyFile?: string
  revokeCommand?: string
  report: string
  mine?: true
}

const REPORTS: Record<string, (report: Report) => string> = {
  text: (report) => textReport(report).split('\n').map(escapeInvisible).join('\n'),
  json: jsonReport,
  junit: junitReport,
}

export function addConformCommand(program: Command, shell: Shell): void {
  program
    .command('conform')
    .description('check from outside whether a deployment keeps the specification of the API')
    .argument('<base_url>', 'the base address of the API, such as https://api.example.com')
    .option('--key-file <file>', 'a file with an API key that no other program uses; - for input')
    .option('--second-key-file <file>', 'a file with another key, for the checks of two keys')
    .option(
      '--revoke-command <command>',
      'a shell command that revokes the key of --key-file; the run ends with it',
    )
    .option('--report <form>', 'text, json or junit', 'text')
    .option('--mine', 'the host is yours: send more than two requests per second')
    .addHelpText(
      'after',
      `
Sends requests to the API of any implementation, and compares the answers with the specification.
Needs no database. A host that is not this machine gets at most two requests per second.

Examples:
  server-listing conform http://127.0.0.1:8080 --key-file key.txt
  server-listing conform https://api.example.com --key-file key.txt --mine --report junit

Exit codes: 0 no finding, 1 findings or no answer, 2 wrong command line.`,
    )
    .action((baseUrl, options) => check(shell, baseUrl, options))
}

async function check(shell: Shell, baseUrl: string, options: Options): Promise<void> {
  const target = targetOf(baseUrl)
  const report = REPORTS[options.report]
  if (!Object.hasOwn(REPORTS, options.report) || report === undefined)
    throw new Misuse(`--report must be text, json or junit, not ${quote(options.report)}`)
  const order: Order = {
    target,
    key: await readKey(shell, needOption(options.keyFile, '--key-file <file>'), '--key-file'),
    second:
      options.secondKeyFile === undefined
        ? null
        : await readKey(shell, options.secondKeyFile, '--second-key-file'),
    revokeCommand: options.revokeCommand ?? null,
    isMine: options.mine === true,
  }
  if (order.key === order.second)
    throw new Misuse('--key-file and --second-key-file must have two keys, not the same one')
  const result = await run(shell, order)
  print(shell, report(result))
  const findings = findingsOf(result).length
  if (result.failure !== null)
    throw new Failure(`the command of --revoke-command has failed: ${result.failure}`)
  if (findings > 0) throw new Failure(`${target.url} has ${countOf(findings, 'finding')}`)
}

function targetOf(baseUrl: string): Target {
  const target = readTarget(baseUrl)
  if (target !== null) return target
  throw new Misuse(
    'the base address must be a URL with http:// or https://, without a user, a query or a ' +
      'fragment, such as https://api.example.com',
  )
}

async function readKey(shell: Shell, file: string, flag: string): Promise<string> {
  const text = await readInput(shell, file)
  const key = text.replace(/\r?\n$/, '')
  if (/^[!-~]{16,200}$/.test(key)) return key
  throw new Misuse(
    `${flag} must name a file with one API key and nothing else; this one has ` +
      countOf(text.length, 'character'),
  )
}

async function run(shell: Shell, order: Order): Promise<Report> {
  const progress = createProgress(shell)
  try {
    return await conform(order, {
      begin: (plan) => sayPlan(shell, plan),
      check: (name) => progress.show(`checking ${name} …`),
    })
  } catch (error) {
    throw new Failure(`cannot reach ${order.target.url}: ${reasonFor(error)}`)
  } finally {
    progress.clear()
  }
}

function sayPlan(shell: Shell, { requests, seconds, key, isPolite }: Plan): void {
  const pace = isPolite ? ', at most two per second (--mine sends them faster)' : ''
  say(shell, `${countOf(requests, 'request')}${pace}: about ${seconds} s with ${key}`)
}

function reasonFor(error: unknown): string {
  const { message } = error as Error
  switch (message) {
    case 'ECONNREFUSED':
      return 'no program listens there'
    case 'ENOTFOUND':
      return 'the host name is unknown'
    default:
      return message
  }
}
