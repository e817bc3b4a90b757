import { inspect } from 'node:util'
import { Command, CommanderError, Help } from 'commander'
import { NAMED_SETTINGS } from '../config/settings.ts'
import { withSources } from '../log/stack-trace.ts'
import { FROM_ENV_FILE, HELP_HINT } from '../terminal/context.ts'
import { MissingDatabase, Misuse } from '../terminal/errors.ts'
import { say } from '../terminal/output.ts'
import type { Shell } from '../terminal/shell.ts'
import { readVersion } from './version.ts'

/** Loaded when the command line names them. Help names all of them. */
const COMMANDS: Record<string, () => Promise<(program: Command, shell: Shell) => void>> = {
  serve: async () => (await import('./commands/serve.ts')).addServeCommand,
  health: async () => (await import('./commands/health.ts')).addHealthCommand,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
  backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
  restore: async () => (await import('./commands/restore.ts')).addRestoreCommand,
  revocations: async () => (await import('./commands/revocations.ts')).addRevocationCommands,
  user: async () => (await import('../accounts/commands/users.ts')).addUserCommands,
  key: async () => {
    const { addKeyCommands } = await import('../keys/commands/keys.ts')
    const { addImportCommand } = await import('../acts/commands/import-keys-command.ts')
    return (program, shell) => addImportCommand(addKeyCommands(program, shell), shell)
  },
  server: async () => (await import('../servers/commands/servers.ts')).addServerCommands,
  organization: async () =>
    (await import('../organizations/commands/organizations.ts')).addOrganizationCommands,
  token: async () => (await import('./commands/token.ts')).addTokenCommands,
  apply: async () => (await import('../acts/commands/apply.ts')).addApplyCommand,
  export: async () => (await import('../acts/commands/export.ts')).addExportCommand,
  config: async () => (await import('./commands/inspect/config.ts')).addConfigCommand,
  doctor: async () => (await import('./commands/inspect/doctor.ts')).addDoctorCommand,
  conform: async () => (await import('./commands/inspect/conform.ts')).addConformCommand,
  audit: async () => (await import('../accounts/commands/audit.ts')).addAuditCommands,
}

/**
 * Runs one command and returns its exit code: 0 success, 1 failure, 2 wrong command line or
 * environment, 78 no database for `serve --require-database`.
 */
export async function run(args: readonly string[], shell: Shell): Promise<number> {
  const program = createProgram(shell)
  await addCommands(program, shell, nameIn(args))
  refuseRepeated(program)
  let called = program
  program.hook('preAction', async (_, command) => {
    called = command
    const { envFile } = program.opts<{ envFile?: string }>()
    if (envFile === undefined) return
    const { loadEnvFile } = await import('../terminal/env-file.ts')
    program.setOptionValue(FROM_ENV_FILE, loadEnvFile(envFile, shell.env))
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has printed the error. Its exit code is 0 for help and 1 for any error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (isSentence(error)) say(shell, `error: ${error.message}`)
    else sayUnforeseen(shell, error, called)
    if (error instanceof MissingDatabase) return 78
    return error instanceof Misuse ? 2 : 1
  }
}

/**
 * Our own errors are sentences for people. Errors of Node.js, whose names end in "Error", are not.
 */
function isSentence(error: unknown): error is Error {
  return error instanceof Error && !error.name.endsWith('Error')
}

function sayUnforeseen(shell: Shell, error: unknown, called: Command): void {
  const reason = error instanceof Error ? error.message : String(error)
  const isDebug = shell.env.LOG_LEVEL === 'debug'
  say(
    shell,
    `error: ${fullName(called)} failed: ` +
      `${reason}${isDebug ? '' : ' (set LOG_LEVEL=debug to see where)'}`,
  )
  if (isDebug) shell.stderr.write(`${withSources(inspect(error))}\n`)
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`
}

function createProgram(shell: Shell): Command {
  const program = new Command('server-listing')
    .description('Serve the Public Server Listing API, and manage its users, keys and servers.')
    .version(readVersion(), '-v, --version', 'print the version')
    .option(
      '--env-file <file>',
      'read variables from this file; those of the environment take precedence',
    )
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(HELP_HINT)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => say(shell, text.trimEnd()),
      getOutHelpWidth: () => shell.stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => shell.stderr.columns ?? HELP_WIDTH,
    })
    .addHelpText(
      'after',
      () => `
Environment:
${describeSettings()}

Examples:
  server-listing serve
  server-listing --env-file /etc/server-listing.env user list
  server-listing user add ada@example.com
  server-listing server import --user ada@example.com servers.json
  server-listing key issue --user ada@example.com --name "Discord bot"

Exit codes: 0 success, 1 failure, 2 wrong command line or environment; 78 from serve
--require-database without a usable database.
`,
    )
  return program
}

/** In columns, where there is no terminal. */
const HELP_WIDTH = 80
/** Wide enough for the longest name. */
const NAME_WIDTH = 17

function describeSettings(): string {
  const helper = new Help()
  const lines = NAMED_SETTINGS.map(([name, { meaning, default: value, unset = value }]) => {
    const text = unset === undefined ? meaning : `${meaning} (default: ${unset})`
    return helper.formatItem(name, NAME_WIDTH, text.replaceAll('`', ''), helper)
  })
  return lines.join('\n')
}

/** The name of the command: options of the program may stand before it. */
function nameIn(args: readonly string[]): string | undefined {
  return args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--env-file')
}

/** Commander itself would take the last value of a repeated option, and ignore the others. */
function refuseRepeated(command: Command): void {
  for (const option of command.options.filter(({ required, variadic }) => required && !variadic)) {
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new Misuse(`${option.flags} can be given only once\n${HELP_HINT}`)
      isGiven = true
    })
  }
  for (const each of command.commands) refuseRepeated(each)
}

/** Adds the command with this name, or all commands if there is none, for help and for typos. */
async function addCommands(program: Command, shell: Shell, name = ''): Promise<void> {
  const names = Object.hasOwn(COMMANDS, name) ? [name] : Object.keys(COMMANDS)
  for (const each of names) (await COMMANDS[each]!())(program, shell)
}
