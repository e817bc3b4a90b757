import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import * as v from 'valibot'
import { type DatabaseConfig, readDatabase } from './database-url.ts'
import { quote } from './listing/text.ts'

export interface Config {
  database: DatabaseConfig
  host: string
  port: number
  /** Where the public reaches the API, without a slash at the end. */
  baseUrl: string
  dashboardPort: number
  /** Where people reach the dashboard, likewise. */
  dashboardUrl: string
  /** Whether anybody may make an account. */
  signUp: SignUp
  /** What sign-in cookies are signed with; null if the service is to make that and keep it in the database. */
  authSecret: string | null
  /** Addresses and networks whose word about the caller's address is taken. */
  trustedProxies: string[]
  logLevel: LogLevel
}

export type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type SignUp = (typeof SIGN_UPS)[number]
const SIGN_UPS = ['open', 'closed'] as const

type Environment = Readonly<Record<string, string | undefined>>

const AUTH_SECRET_MIN = 32

const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'must be a port from 0 to 65535'),
  v.transform(Number),
  v.maxValue(65_535, 'must be a port from 0 to 65535'),
)
const url = v.pipe(
  v.string(),
  v.check(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text),
    'must begin with http:// or https://',
  ),
)

const schema = v.object({
  HOST: v.optional(
    v.pipe(v.string(), v.regex(/^\S+$/, 'must be an address or a host name to listen on')),
    '127.0.0.1',
  ),
  PORT: v.optional(port, '8080'),
  BASE_URL: v.optional(url),
  DASHBOARD_PORT: v.optional(port, '8081'),
  DASHBOARD_URL: v.optional(url),
  SIGN_UP: v.optional(v.picklist(SIGN_UPS, 'must be open or closed'), 'closed'),
  AUTH_SECRET: v.optional(
    v.pipe(
      v.string(),
      v.minLength(AUTH_SECRET_MIN, `must have ${AUTH_SECRET_MIN} characters or more`),
    ),
  ),
  AUTH_SECRET_FILE: v.optional(v.string()),
  TRUSTED_PROXIES: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => (text === '' ? [] : text.split(',').map((part) => part.trim()))),
      v.check(
        (parts) => parts.every(isNetwork),
        'must be addresses or networks such as 10.0.0.0/8, with commas between them',
      ),
    ),
    '',
  ),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
})

/** The configuration that the environment describes, or everything that is wrong with it at once. */
export function readConfig(
  environment: Environment,
): { config: Config } | { complaints: string[] } {
  // An empty variable is an unset one, as in a compose file.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const checked = v.safeParse(schema, given)
  if (!checked.success) {
    const complaints = checked.issues.map((issue) => {
      const name = v.getDotPath(issue) ?? ''
      const isSecret = name === 'AUTH_SECRET'
      return isSecret
        ? `${name} ${issue.message}`
        : `${name} ${issue.message}, not ${quote(given[name])}`
    })
    return { complaints }
  }
  const secret = readAuthSecret(checked.output)
  if ('complaint' in secret) return { complaints: [secret.complaint] }
  const { HOST: host, PORT, DASHBOARD_PORT, BASE_URL, DASHBOARD_URL } = checked.output
  return {
    config: {
      database: readDatabase(given),
      host,
      port: PORT,
      baseUrl: withoutSlash(BASE_URL ?? urlOf(host, PORT)),
      dashboardPort: DASHBOARD_PORT,
      dashboardUrl: withoutSlash(DASHBOARD_URL ?? urlOf(host, DASHBOARD_PORT)),
      signUp: checked.output.SIGN_UP,
      authSecret: secret.authSecret,
      trustedProxies: checked.output.TRUSTED_PROXIES,
      logLevel: checked.output.LOG_LEVEL,
    },
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIP(address) === 4 ? 32 : 128
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  return isIP(address) !== 0 && fits && rest.length === 0
}

function readAuthSecret(given: {
  AUTH_SECRET?: string | undefined
  AUTH_SECRET_FILE?: string | undefined
}): { authSecret: string | null } | { complaint: string } {
  const { AUTH_SECRET: secret, AUTH_SECRET_FILE: file } = given
  if (secret !== undefined || file === undefined) return { authSecret: secret ?? null }
  try {
    const authSecret = readFileSync(file, 'utf8').trim()
    if (authSecret.length >= AUTH_SECRET_MIN) return { authSecret }
    return {
      complaint: `the file ${quote(file)} that AUTH_SECRET_FILE names must have ${AUTH_SECRET_MIN} characters or more`,
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { complaint: `AUTH_SECRET_FILE names ${quote(file)}, which cannot be read (${code})` }
  }
}

/** The URL of a listener, whose host may be an IPv6 address. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
