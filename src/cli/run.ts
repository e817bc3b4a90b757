import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { HELP_HINT } from './context.ts'
import { addCopyCommand } from './copy.ts'
import { Misuse } from './errors.ts'
import { addKeyCommands } from './keys.ts'
import { addMigrateCommand } from './migrate.ts'
import { say } from './output.ts'
import { addServeCommand } from './serve.ts'
import { addServerCommands } from './servers.ts'
import { addUserCommands } from './users.ts'

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 misused. */
export async function run(args: readonly string[]): Promise<number> {
  handleOutputErrors()
  const program = createProgram()
  let called = program
  program.hook('preAction', (_, command) => {
    called = command
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has said what was wrong; its own codes are 0 for help and 1 for everything else.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (isSentence(error)) say(`error: ${error.message}`)
    else sayUnforeseen(error, called)
    return error instanceof Misuse ? 2 : 1
  }
}

function handleOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as head, is no failure.
    if (error.code === 'EPIPE') process.exit(0)
    say(`error: standard output cannot be written: ${error.code ?? error.message}`)
    process.exit(1)
  })
  // Nobody is left to be told.
  process.stderr.on('error', () => {})
}

/** Errors of our own are sentences for people; those of Node.js, which are all called something with Error, are not. */
function isSentence(error: unknown): error is Error {
  return error instanceof Error && !error.name.endsWith('Error')
}

function sayUnforeseen(error: unknown, called: Command): void {
  const reason = error instanceof Error ? error.message : String(error)
  const isDebug = process.env.LOG_LEVEL === 'debug'
  say(
    `error: ${fullName(called)} failed: ${reason}${isDebug ? '' : ' (LOG_LEVEL=debug shows where)'}`,
  )
  if (isDebug) console.error(error)
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`
}

function createProgram(): Command {
  const program = new Command('server-listing')
    .description('The Public Server Listing API: serve it, and manage its users, keys and servers.')
    .version(readVersion())
    .showHelpAfterError(HELP_HINT)
    .exitOverride()
    .configureOutput({ writeErr: (text) => say(text.trimEnd()) })
    .addHelpText(
      'after',
      `
Environment:
  DATABASE_URL   sqlite:PATH (default: sqlite:data/server-listing.db) or postgres://…;
                 DATABASE_URL_FILE names a file that holds it
  HOST, PORT     where to listen (default: 127.0.0.1 and 8080)
  BASE_URL       where the public reaches the API
  DASHBOARD_PORT, DASHBOARD_URL
                 the same for the dashboard (default: 8081)
  SIGN_UP        open or closed: whether anybody may make an account (default: closed)
  AUTH_SECRET    what sign-in is signed with (default: made once, and kept in the database)
  TRUSTED_PROXIES
                 whose X-Forwarded-For is believed, as 10.0.0.0/8,127.0.0.1
  LOG_LEVEL      debug, info, warn, error or silent (default: info)

Examples:
  server-listing serve
  server-listing user add ada@example.com
  server-listing server import --user ada@example.com servers.json
  server-listing key issue --user ada@example.com --name "Discord bot"

Exit codes: 0 done, 1 failed, 2 misused.
`,
    )
  addServeCommand(program)
  addMigrateCommand(program)
  addCopyCommand(program)
  addUserCommands(program)
  addKeyCommands(program)
  addServerCommands(program)
  return program
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
