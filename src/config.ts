import { isIP } from 'node:net'
import { type DatabaseConfig, readDatabase } from './database-url.ts'
import { checkStoredEmail } from './listing/accounts/user.ts'
import { quote } from './listing/text.ts'
import { complaintAboutDashboardUrl, complaintAboutUrl, withoutPassword } from './public-url.ts'

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
  /** `open` lets every visitor create an account. */
  signUp: SignUp
  /** Email addresses of the accounts that see the operator's page. */
  operators: string[]
  /** The listener for health and metrics. */
  opsHost: string
  opsPort: number
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[]
  logLevel: LogLevel
}

export type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type SignUp = (typeof SIGN_UPS)[number]
const SIGN_UPS = ['open', 'closed'] as const

const REUSE_PORTS = ['on', 'off'] as const

type Environment = Readonly<Record<string, string | undefined>>

/** The error of a text, in words that follow "must". Null if the text is valid. */
type Complain = (text: string) => string | null

const complaintAboutHost: Complain = (text) =>
  /^\S+$/.test(text) ? null : 'be an IP address or a host name'
const complaintAboutPort: Complain = (text) =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? null : 'be a port from 0 to 65535'
const complaintAboutSignUp: Complain = (text) =>
  isOneOf(SIGN_UPS, text) ? null : 'be open or closed'
const complaintAboutReusePort: Complain = (text) =>
  isOneOf(REUSE_PORTS, text) ? null : 'be on or off'
const complaintAboutLogLevel: Complain = (text) =>
  isOneOf(LOG_LEVELS, text) ? null : `be one of ${LOG_LEVELS.join(', ')}`
const complaintAboutOperators: Complain = (text) =>
  listOf(text).every((email) => 'email' in checkStoredEmail(email))
    ? null
    : 'be email addresses, separated by commas'
const complaintAboutNetworks: Complain = (text) =>
  listOf(text).every(isNetwork)
    ? null
    : 'be addresses or networks such as 10.0.0.0/8, separated by commas'

const SETTINGS: Record<string, Complain> = {
  HOST: complaintAboutHost,
  PORT: complaintAboutPort,
  REUSE_PORT: complaintAboutReusePort,
  BASE_URL: complaintAboutUrl,
  DASHBOARD_PORT: complaintAboutPort,
  DASHBOARD_URL: complaintAboutDashboardUrl,
  SIGN_UP: complaintAboutSignUp,
  OPERATORS: complaintAboutOperators,
  OPS_HOST: complaintAboutHost,
  OPS_PORT: complaintAboutPort,
  TRUSTED_PROXIES: complaintAboutNetworks,
  LOG_LEVEL: complaintAboutLogLevel,
}

/** A setting of the command line. It replaces the variable. */
export interface ConfigOption {
  variable: string
  /** How a message names it, such as `--port`. */
  flag: string
  value: string
}

/** Reads the configuration from the environment, or returns every mistake in it. */
export function readConfig(
  environment: Environment,
  options: readonly ConfigOption[] = [],
): { config: Config } | { complaints: string[] } {
  // An empty variable counts as unset, because compose files set empty ones.
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const given: Environment = Object.fromEntries([
    ...set,
    ...options.map(({ variable, value }) => [variable, value]),
  ])
  const nameOf = (setting: string) =>
    options.find(({ variable }) => variable === setting)?.flag ?? setting
  const complaints = Object.entries(SETTINGS).flatMap(([name, complain]) => {
    const text = given[name]
    const wanted = text === undefined ? null : complain(text)
    return wanted === null
      ? []
      : [`${nameOf(name)} must ${wanted}, not ${quote(withoutPassword(text!))}`]
  })
  const database = readDatabase(given, nameOf('DATABASE_URL'))
  const reusePort = given.REUSE_PORT === 'on'
  if (reusePort && database.engine === 'sqlite')
    complaints.push('REUSE_PORT must be off on SQLite, because only one process can serve a file')
  if (environment.DATABASE_URL_FILE && environment.DATABASE_URL)
    complaints.push('DATABASE_URL and DATABASE_URL_FILE are both set; unset one of them')
  const ports = readPorts(given)
  complaints.push(...complaintsAboutEqualPorts(ports))
  if (complaints.length > 0) return { complaints }
  return {
    config: {
      database,
      host: given.HOST ?? '127.0.0.1',
      port: ports.PORT,
      reusePort,
      baseUrl: withoutSlash(given.BASE_URL),
      dashboardPort: ports.DASHBOARD_PORT,
      dashboardUrl: withoutSlash(given.DASHBOARD_URL),
      signUp: (given.SIGN_UP ?? 'closed') as SignUp,
      operators: listOf(given.OPERATORS).map((email) => email.toLowerCase()),
      opsHost: given.OPS_HOST ?? '127.0.0.1',
      opsPort: ports.OPS_PORT,
      trustedProxies: listOf(given.TRUSTED_PROXIES),
      logLevel: (given.LOG_LEVEL ?? 'info') as LogLevel,
    },
  }
}

interface Ports {
  PORT: number
  DASHBOARD_PORT: number
  OPS_PORT: number
}

function readPorts({ PORT, DASHBOARD_PORT, OPS_PORT }: Environment): Ports {
  return {
    PORT: Number(PORT ?? 8080),
    DASHBOARD_PORT: Number(DASHBOARD_PORT ?? 8081),
    OPS_PORT: Number(OPS_PORT ?? 8082),
  }
}

/** With REUSE_PORT=on the system would let one process listen twice on one port. */
function complaintsAboutEqualPorts(ports: Ports): string[] {
  const named = Object.entries(ports)
  return named.flatMap(([name, port], index) => {
    const other = named.slice(0, index).find(([, earlier]) => earlier === port && port !== 0)
    return other === undefined ? [] : [`${name} must differ from ${other[0]}, which is ${port}`]
  })
}

function isOneOf(values: readonly string[], text: string): boolean {
  return values.includes(text)
}

/** The parts between the commas. */
function listOf(text: string | undefined): string[] {
  return text?.split(',').map((part) => part.trim()) ?? []
}

function withoutSlash(url: string | undefined): string | null {
  return url?.replace(/\/+$/, '') ?? null
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIP(address) === 4 ? 32 : 128
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  return isIP(address) !== 0 && fits && rest.length === 0
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
