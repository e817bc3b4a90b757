import type { Command } from 'commander'
import { type Config, ownUrlOf } from '../../../config/config.ts'
import { inspectIgnored, maskPasswords } from '../../../config/database-url.ts'
import { NAMED_SETTINGS, type SettingName } from '../../../config/settings.ts'
import { sentenceOf } from '../../../model/health/finding.ts'
import { FROM_ENV_FILE, loadConfig } from '../../../terminal/context.ts'
import { Misuse } from '../../../terminal/errors.ts'
import { printJson, printTable, say } from '../../../terminal/output.ts'
import { addSettingOptions, type SettingOptions, settingsOf } from '../../serve/options.ts'
import type { Shell } from '../../../terminal/shell.ts'

type Source = 'flag' | 'env_file' | 'environment' | 'file' | 'default'

/** The source of a value in the table. JSON has the keys. */
const SOURCES: Record<Source, string> = {
  flag: 'option',
  env_file: '--env-file',
  environment: 'environment',
  file: 'DATABASE_URL_FILE',
  default: 'default',
}

interface Options extends SettingOptions {
  json?: true
  /** See FROM_ENV_FILE. */
  [FROM_ENV_FILE]?: string[]
}

export function addConfigCommand(program: Command, shell: Shell): void {
  const command = program
    .command('config')
    .description('print the value of each setting and its source, without passwords')
  addSettingOptions(command)
  command
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Give it the environment and the options of the service, and it prints what \`serve\` would use.

Examples:
  server-listing config
  server-listing config --env-file /etc/server-listing.env --json`,
    )
    .action((_, called: Command) => showConfig(shell, called.optsWithGlobals<Options>()))
}

function showConfig(shell: Shell, options: Options): void {
  const config = loadConfig(shell, settingsOf(options))
  const made = madeValues(config)
  for (const ignored of inspectIgnored(config.database, shell.env))
    say(shell, `warning: ${sentenceOf(ignored)}`)
  const shown = NAMED_SETTINGS.map(([name, { default: unset = null }]) => {
    const [source, text] = sourceOf(shell, name, options)
    return { name, value: name in made ? made[name]! : (text ?? unset), source, default: unset }
  })
  if (options.json) printJson(shell, shown)
  else
    printTable(
      shell,
      ['NAME', 'VALUE', 'SOURCE'],
      shown.map(({ name, value, source }) => [name, value ?? '-', SOURCES[source]]),
    )
}

/**
 * What the service makes of some settings, without secrets. Null for none, and for a URL whose port
 * the system picks. Any other value is the text of the setting.
 */
function madeValues(config: Config): Partial<Record<SettingName, string | null>> {
  const { database, host, port, dashboardPort, oidc } = config
  if (database.engine === null) throw new Misuse(database.problem)
  const ownUrl = (ofPort: number) => (ofPort === 0 ? null : ownUrlOf(host, ofPort))
  return {
    DATABASE_URL:
      database.engine === 'sqlite' ? `sqlite:${database.path}` : maskPasswords(database.url),
    BASE_URL: config.baseUrl ?? ownUrl(port),
    DASHBOARD_URL: config.dashboardUrl ?? ownUrl(dashboardPort),
    SITE_URL: config.siteUrl,
    PUBLIC_PAGES: config.publicPages ? '1' : '0',
    OPERATORS: config.operators.join(',') || null,
    OIDC_CLIENT_SECRET: oidc?.clientSecret ? '…' : null,
    OIDC_NAME: oidc?.name ?? null,
    TRUSTED_PROXIES: config.trustedProxies.join(',') || null,
  }
}

/** Where a setting comes from, and its text. */
function sourceOf(shell: Shell, name: SettingName, options: Options): [Source, string?] {
  const flag = settingsOf(options).find(({ variable }) => variable === name)
  if (flag !== undefined) return ['flag', flag.value]
  const text = shell.env[name]
  // An empty variable counts as unset.
  if (text) return [options[FROM_ENV_FILE]?.includes(name) ? 'env_file' : 'environment', text]
  return [name === 'DATABASE_URL' && shell.env.DATABASE_URL_FILE ? 'file' : 'default']
}
