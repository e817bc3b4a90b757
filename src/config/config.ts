import { isIP } from 'node:net'
import { type DatabaseConfig, readDatabase } from './database-url.ts'
import { type OidcConfig, readOidc } from './oidc.ts'
import { quote } from '../model/text.ts'
import { withoutSecrets } from './public-url.ts'
import { complaintAboutStray } from './stray.ts'
import { listOf, type LOG_LEVELS, type SettingName, SETTINGS, type SIGN_UPS } from './settings.ts'

export interface Config {
  database: DatabaseConfig
  host: string
  port: number
  /** Lets several processes on PostgreSQL listen on the same ports. */
  reusePort: boolean
  /** The public URL of the API, without a trailing slash. Null for the URL of its listener. */
  baseUrl: string | null
  dashboardPort: number
  /** The public URL of the dashboard, likewise. */
  dashboardUrl: string | null
  /** The public URL of the website that has the pages of servers, likewise. */
  siteUrl: string | null
  /** Whether the dashboard's listener serves the pages of published servers. */
  publicPages: boolean
  /** What the pages call the site. Null for the name of this program. */
  siteName: string | null
  /** Where users reach the operator: a `mailto:` or `https:` URL. */
  contact: string | null
  /** Whether the site manages the servers, and no page of the dashboard changes them. */
  serversElsewhere: boolean
  /** `open` lets every visitor create an account. */
  signUp: SignUp
  /** False if no user signs in by password. */
  passwords: boolean
  /** The identity provider whose accounts sign in. Null if there is none. */
  oidc: OidcConfig | null
  /** Email addresses of the accounts that see the operator's page. */
  operators: string[]
  /** The listener for health and metrics. */
  opsHost: string
  opsPort: number
  /** The listener for the operator's site. Null if there is none. */
  management: ManagementConfig | null
  /** How long the process still serves after a signal, while `/readyz` fails. */
  drainSeconds: number
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[]
  logLevel: LogLevel
}

export interface ManagementConfig {
  host: string
  port: number
  tokensFile: string
}

export type LogLevel = (typeof LOG_LEVELS)[number]

export type SignUp = (typeof SIGN_UPS)[number]

type Environment = Readonly<Record<string, string | undefined>>

/** A setting of the command line. It replaces the variable. */
export interface ConfigOption {
  variable: SettingName
  /** How a message names it, such as `--port`. */
  flag: string
  value: string
}

/** Reads the configuration from the environment, or returns every mistake in it. */
export function readConfig(
  environment: Environment,
  options: readonly ConfigOption[] = [],
): { config: Config } | { complaints: string[] } {
  const chosen = options.map(({ variable, value }) => [variable, value])
  // An empty variable counts as unset, because compose files set empty ones.
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const given: Environment = Object.fromEntries([...set, ...chosen])
  const nameOf = (setting: string) =>
    options.find(({ variable }) => variable === setting)?.flag ?? setting
  const textOf = (name: SettingName): string => given[name] ?? SETTINGS[name].default ?? ''
  const complaints = complaintsAboutValues(given, nameOf)
  const database = readDatabase(given, nameOf('DATABASE_URL'))
  const reusePort = textOf('REUSE_PORT') === 'on'
  if (reusePort && database.engine === 'sqlite')
    complaints.push('REUSE_PORT must be off on SQLite, because only one process can serve a file')
  if (environment.DATABASE_URL_FILE && environment.DATABASE_URL)
    complaints.push('DATABASE_URL and DATABASE_URL_FILE are both set; unset one of them')
  if (given.SERVERS === 'elsewhere' && given.SITE_URL === undefined)
    complaints.push('SERVERS is elsewhere, so SITE_URL must be set: the dashboard links to it')
  if (given.PASSWORDS === 'off' && given.SIGN_UP === 'open')
    complaints.push(
      'SIGN_UP is open and PASSWORDS is off; unset one of them. With OIDC_ISSUER, ' +
        "OIDC_SIGN_UP=open gives the provider's users accounts",
    )
  const { oidc, complaints: aboutOidc } = readOidc(given)
  complaints.push(...aboutOidc)
  const host = textOf('HOST')
  const opsHost = textOf('OPS_HOST')
  const management = readManagement(given, textOf('MANAGEMENT_HOST'))
  if (management?.tokensFile === '')
    complaints.push(
      'MANAGEMENT_TOKENS_FILE must be set, because MANAGEMENT_PORT is. `server-listing token ' +
        'create` makes a token',
    )
  const ports = [
    { name: nameOf('PORT'), host, port: Number(textOf('PORT')) },
    { name: 'DASHBOARD_PORT', host, port: Number(textOf('DASHBOARD_PORT')) },
    { name: 'OPS_PORT', host: opsHost, port: Number(textOf('OPS_PORT')) },
  ]
  const all = management === null ? ports : [...ports, { name: 'MANAGEMENT_PORT', ...management }]
  complaints.push(...complaintsAboutEqualPorts(all))
  if (complaints.length > 0) return { complaints }
  return {
    config: {
      database,
      host,
      port: Number(textOf('PORT')),
      reusePort,
      baseUrl: withoutSlash(given.BASE_URL),
      dashboardPort: Number(textOf('DASHBOARD_PORT')),
      dashboardUrl: withoutSlash(given.DASHBOARD_URL),
      siteUrl: withoutSlash(given.SITE_URL),
      publicPages: (given.PUBLIC_PAGES ?? (given.SITE_URL === undefined ? '0' : '1')) === '1',
      siteName: given.SITE_NAME ?? null,
      contact: given.CONTACT ?? null,
      serversElsewhere: textOf('SERVERS') === 'elsewhere',
      signUp: textOf('SIGN_UP') as SignUp,
      passwords: textOf('PASSWORDS') === 'on',
      oidc,
      operators: listOf(given.OPERATORS).map((email) => email.toLowerCase()),
      opsHost,
      opsPort: Number(textOf('OPS_PORT')),
      management,
      drainSeconds: Number(textOf('DRAIN_SECONDS')),
      trustedProxies: listOf(given.TRUSTED_PROXIES),
      logLevel: textOf('LOG_LEVEL') as LogLevel,
    },
  }
}

function readManagement(given: Environment, host: string): ManagementConfig | null {
  const { MANAGEMENT_PORT: port, MANAGEMENT_TOKENS_FILE: tokensFile = '' } = given
  return port === undefined ? null : { host, port: Number(port), tokensFile }
}

/** The mistakes in each value by itself. */
function complaintsAboutValues(given: Environment, nameOf: (setting: string) => string): string[] {
  return [...Object.keys(SETTINGS), 'NODE_ENV'].flatMap((name) => {
    const text = given[name]
    if (text === undefined) return []
    const stray = complaintAboutStray(text)
    // What is wrong with DATABASE_URL is no reason to end the service: it answers 503.
    if (stray !== null) return name === 'DATABASE_URL' ? [] : [`${nameOf(name)} must ${stray}`]
    const wanted = SETTINGS[name as SettingName]?.complain?.(text) ?? null
    return wanted === null
      ? []
      : [`${nameOf(name)} must ${wanted}, not ${quote(withoutSecrets(text))}`]
  })
}

interface Listener {
  /** The variable or the option that gave the port. */
  name: string
  host: string
  port: number
}

/** With REUSE_PORT=on the system would let one process listen twice on one port. */
function complaintsAboutEqualPorts(listeners: readonly Listener[]): string[] {
  return listeners.flatMap((listener, index) => {
    const other = listeners.slice(0, index).find((earlier) => collide(earlier, listener))
    return other === undefined
      ? []
      : [`${listener.name} must differ from ${other.name}, which is ${other.port}`]
  })
}

/** Two addresses of one machine can have a port each. A name may mean any address. */
function collide(one: Listener, other: Listener): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const areAddresses = [one, other].every(({ host }) => isIP(host) !== 0 && !isEveryAddress(host))
  return one.host === other.host || !areAddresses
}

function withoutSlash(url: string | undefined): string | null {
  return url?.replace(/\/+$/, '') ?? null
}

/**
 * The URL of a listener for clients on the same machine. They can't connect to `0.0.0.0` or `::`.
 */
export function ownUrlOf(host: string, port: number): string {
  if (!isEveryAddress(host)) return urlOf(host, port)
  return urlOf(host.includes(':') ? '::1' : '127.0.0.1', port)
}

export function isEveryAddress(host: string): boolean {
  return /^[0.:]+$/.test(host)
}

/** The URL of a listener. The host may be an IPv6 address. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
