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
  const values = valuesOf(shell, config)
  for (const ignored of inspectIgnored(config.database, shell.env))
    say(shell, `warning: ${sentenceOf(ignored)}`)
  const shown = NAMED_SETTINGS.map(([name, setting]) => ({
    name,
    value: values[name],
    source: sourceOf(shell, name, options),
    default: setting.default,
  }))
  if (options.json) printJson(shell, shown)
  else
    printTable(
      shell,
      ['NAME', 'VALUE', 'SOURCE'],
      shown.map(({ name, value, source }) => [name, value ?? '-', SOURCES[source]]),
    )
}

/**
 * What the service uses, without secrets. Null for none, and for a URL whose port the system picks.
 */
function valuesOf(shell: Shell, config: Config): Record<SettingName, string | null> {
  const { database, host, port, dashboardPort } = config
  if (database.engine === null) throw new Misuse(database.problem)
  const ownUrl = (ofPort: number) => (ofPort === 0 ? null : ownUrlOf(host, ofPort))
  return {
    DATABASE_URL:
      database.engine === 'sqlite' ? `sqlite:${database.path}` : maskPasswords(database.url),
    DATABASE_URL_FILE: shell.env.DATABASE_URL_FILE || null,
    HOST: host,
    PORT: String(port),
    REUSE_PORT: config.reusePort ? 'on' : 'off',
    BASE_URL: config.baseUrl ?? ownUrl(port),
    DASHBOARD_PORT: String(dashboardPort),
    DASHBOARD_URL: config.dashboardUrl ?? ownUrl(dashboardPort),
    SITE_URL: config.siteUrl,
    PUBLIC_PAGES: config.publicPages ? '1' : '0',
    SITE_NAME: config.siteName,
    CONTACT: config.contact,
    SERVERS: config.serversElsewhere ? 'elsewhere' : 'here',
    SIGN_UP: config.signUp,
    OPERATORS: config.operators.join(',') || null,
    OIDC_ISSUER: config.oidc?.issuer ?? null,
    OIDC_CLIENT_ID: config.oidc?.clientId ?? null,
    OIDC_CLIENT_SECRET: config.oidc?.clientSecret ? '…' : null,
    OIDC_CLIENT_SECRET_FILE: shell.env.OIDC_CLIENT_SECRET_FILE || null,
    OIDC_NAME: config.oidc?.name ?? null,
    OIDC_SIGN_UP: config.oidc?.signUp ?? 'closed',
    OIDC_OPERATOR_GROUP: config.oidc?.operatorGroup ?? null,
    OIDC_AUTO: config.oidc?.isAutomatic ? '1' : '0',
    PASSWORDS: config.passwords ? 'on' : 'off',
    OPS_HOST: config.opsHost,
    OPS_PORT: String(config.opsPort),
    DRAIN_SECONDS: String(config.drainSeconds),
    TRUSTED_PROXIES: config.trustedProxies.join(',') || null,
    LOG_LEVEL: config.logLevel,
  }
}

function sourceOf(shell: Shell, name: SettingName, options: Options): Source {
  if (settingsOf(options).some(({ variable }) => variable === name)) return 'flag'
  // An empty variable counts as unset.
  if (shell.env[name]) return options[FROM_ENV_FILE]?.includes(name) ? 'env_file' : 'environment'
  return name === 'DATABASE_URL' && shell.env.DATABASE_URL_FILE ? 'file' : 'default'
}
