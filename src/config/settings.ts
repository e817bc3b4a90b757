import { isIP } from 'node:net'
import { DEFAULT_DATABASE_PATH } from './database-url.ts'
import { checkEmail } from '../model/email.ts'
import { escapeInvisible } from '../model/characters/invisible.ts'
import { complaintAboutLine } from '../model/text.ts'
import { complaintAboutIssuer } from './oidc.ts'
import {
  complaintAboutContact,
  complaintAboutDashboardUrl,
  complaintAboutUrl,
} from './public-url.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export const SIGN_UPS = ['open', 'closed'] as const
/** In code points. The bar of each page shows the name. */
const SITE_NAME_LENGTH_MAX = 40
/** The longest time for a load balancer to notice. The files of deploy/ wait for it. */
export const DRAIN_SECONDS_MAX = 60

/** The error of a text, in words that follow "must". Null if the text is valid. */
type Complain = (text: string) => string | null

/**
 * A variable of the environment. `readConfig`, `config`, the help and the table in README.md all
 * read this description.
 */
export interface Setting {
  /** In Markdown. */
  meaning: string
  /** The page in docs/ that says more, with its heading. */
  page?: string
  /** The value without the variable. Missing if there is none, or if other settings decide. */
  default?: string
  /** What applies without the variable, in Markdown, if `default` does not say all. */
  unset?: string
  /** Which commands use the value. By default, all of them do. */
  usedBy?: readonly string[]
  /** Missing for a value that is checked where it is used. */
  complain?: Complain
}

const SERVE = ['serve']

const settings = {
  DATABASE_URL: {
    meaning: '`sqlite:PATH` or `postgres://USER:PASSWORD@HOST:5432/DATABASE`',
    page: 'postgresql.md',
    default: `sqlite:${DEFAULT_DATABASE_PATH}`,
    unset: `\`sqlite:${DEFAULT_DATABASE_PATH}\`; required when \`NODE_ENV\` is \`production\``,
  },
  DATABASE_URL_FILE: {
    meaning: 'a file that contains the URL, for secret stores, instead of `DATABASE_URL`',
  },
  HOST: {
    meaning: 'the address to listen on',
    default: '127.0.0.1',
    usedBy: ['serve', 'user link'],
    complain: complaintAboutHost,
  },
  PORT: {
    meaning: "the API's port; 0 picks a free port",
    default: '8080',
    usedBy: SERVE,
    complain: complaintAboutPort,
  },
  REUSE_PORT: {
    meaning: '`on`: several processes on PostgreSQL share the ports of this machine',
    page: 'postgresql.md#several-processes',
    default: 'off',
    usedBy: SERVE,
    complain: oneOf('on', 'off'),
  },
  BASE_URL: {
    meaning: "the API's public URL, shown in the dashboard and the log",
    unset: '`http://HOST:PORT`, with the loopback address if `HOST` is `0.0.0.0` or `::`',
    usedBy: ['serve', 'doctor'],
    complain: complaintAboutUrl,
  },
  DASHBOARD_PORT: {
    meaning: "the dashboard's port",
    default: '8081',
    usedBy: ['serve', 'user link'],
    complain: complaintAboutPort,
  },
  DASHBOARD_URL: {
    meaning:
      "the dashboard's public URL; with `https://`, its cookie is sent over TLS only, to that " +
      'host only',
    unset: '`http://HOST:DASHBOARD_PORT`, with the loopback address if `HOST` is `0.0.0.0` or `::`',
    usedBy: ['serve', 'user link', 'doctor'],
    complain: complaintAboutDashboardUrl,
  },
  SITE_URL: {
    meaning:
      'the URL of the public website; turns public pages on, and the dashboard links to them at ' +
      '`SITE_URL/servers/{id}`',
    page: 'dashboard.md#public-pages',
    usedBy: SERVE,
    complain: complaintAboutUrl,
  },
  PUBLIC_PAGES: {
    meaning: '`1`: everyone can see the page of a published personal server, at `/servers/{id}`',
    page: 'dashboard.md#public-pages',
    unset: '`1` with `SITE_URL`, else `0`',
    usedBy: SERVE,
    complain: oneOf('1', '0'),
  },
  SITE_NAME: {
    meaning: 'the name of the site, shown on every page of the dashboard and on public pages',
    page: 'dashboard.md#name-and-contact',
    usedBy: ['serve', 'doctor'],
    complain: complaintAboutSiteName,
  },
  CONTACT: {
    meaning:
      'where users reach the operator, shown below every page of the dashboard: `mailto:` with ' +
      'an address, or an `https://` URL',
    page: 'dashboard.md#name-and-contact',
    usedBy: ['serve', 'doctor'],
    complain: complaintAboutContact,
  },
  SERVERS: {
    meaning:
      '`elsewhere`: the site at `SITE_URL` manages the servers, and the dashboard shows them ' +
      'without changing any',
    page: 'dashboard.md#servers-of-a-site',
    default: 'here',
    usedBy: SERVE,
    complain: oneOf('here', 'elsewhere'),
  },
  SIGN_UP: {
    meaning:
      "`open`: everyone can create an account. `closed`: only the setup link and an operator's " +
      'commands can',
    default: 'closed',
    usedBy: SERVE,
    complain: oneOf(...SIGN_UPS),
  },
  OPERATORS: {
    meaning:
      "email addresses of the accounts that see the operator's page, separated by commas; only " +
      'the setup link and `user add` can create them',
    usedBy: SERVE,
    complain: (text) =>
      listOf(text).every((email) => 'email' in checkEmail(email))
        ? null
        : 'be email addresses, separated by commas',
  },
  OIDC_ISSUER: {
    meaning:
      'the URL of an identity provider, exactly as the provider writes it; its accounts can ' +
      'then sign in',
    page: 'site-sign-in.md',
    usedBy: ['serve', 'doctor'],
    complain: complaintAboutIssuer,
  },
  OIDC_CLIENT_ID: {
    meaning: 'the id that the provider has for this service; required with `OIDC_ISSUER`',
    usedBy: ['serve', 'doctor'],
  },
  OIDC_CLIENT_SECRET: {
    meaning: 'the secret that belongs to `OIDC_CLIENT_ID`',
    usedBy: SERVE,
  },
  OIDC_CLIENT_SECRET_FILE: {
    meaning: 'a file that contains the secret, instead of `OIDC_CLIENT_SECRET`',
    usedBy: SERVE,
  },
  OIDC_NAME: {
    meaning: 'what the dashboard calls the provider, such as the name of your site',
    unset: 'the host name of `OIDC_ISSUER`',
    usedBy: SERVE,
    complain: (text) => complaintAboutLine(text, 64),
  },
  OIDC_SIGN_UP: {
    meaning:
      "`open`: each of the provider's users gets an account at the first sign-in. `closed`: " +
      'only those with an account can sign in',
    default: 'closed',
    usedBy: SERVE,
    complain: oneOf(...SIGN_UPS),
  },
  OIDC_OPERATOR_GROUP: {
    meaning:
      "a group in the provider's claim `groups`, whose members see the operator's page for 12 " +
      'hours after each sign-in',
    usedBy: ['serve', 'doctor'],
  },
  OIDC_AUTO: {
    meaning: '`1`: the sign-in page leads to the provider by itself',
    default: '0',
    usedBy: SERVE,
    complain: oneOf('1', '0'),
  },
  PASSWORDS: {
    meaning: '`off`: users sign in by `OIDC_ISSUER`, or without one by links alone',
    page: 'site-sign-in.md#without-openid-connect',
    default: 'on',
    usedBy: [...SERVE, 'user link', 'doctor'],
    complain: oneOf('on', 'off'),
  },
  OPS_HOST: {
    meaning: 'the address to listen on for health checks and metrics',
    page: 'monitoring.md',
    default: '127.0.0.1',
    usedBy: ['serve', 'health', 'doctor'],
    complain: complaintAboutHost,
  },
  OPS_PORT: {
    meaning: 'the port for health checks and metrics; each process needs its own',
    default: '8082',
    usedBy: ['serve', 'health', 'doctor'],
    complain: complaintAboutPort,
  },
  MANAGEMENT_PORT: {
    meaning: 'turns the management API for your site on, at this port; each process needs its own',
    page: 'management.md',
    usedBy: ['serve', 'doctor'],
    complain: complaintAboutPort,
  },
  MANAGEMENT_HOST: {
    meaning: 'the address to listen on for the management API',
    default: '127.0.0.1',
    usedBy: SERVE,
    complain: complaintAboutHost,
  },
  MANAGEMENT_TOKENS_FILE: {
    meaning: 'a file with the tokens of the management API; required with `MANAGEMENT_PORT`',
    page: 'management.md#tokens',
    usedBy: ['serve', 'doctor'],
  },
  DRAIN_SECONDS: {
    meaning:
      `how many seconds, at most ${DRAIN_SECONDS_MAX}, a process still serves after SIGTERM or ` +
      'SIGINT, while `/readyz` fails',
    page: 'monitoring.md#behind-a-load-balancer',
    default: '0',
    usedBy: SERVE,
    complain: (text) =>
      /^\d{1,2}$/.test(text) && Number(text) <= DRAIN_SECONDS_MAX
        ? null
        : `be a number of seconds from 0 to ${DRAIN_SECONDS_MAX}`,
  },
  TRUSTED_PROXIES: {
    meaning:
      'addresses and networks of proxies whose `X-Forwarded-For` is trusted, and whose ' +
      'connections have no limit, separated by commas',
    usedBy: ['serve', 'doctor'],
    complain: (text) =>
      listOf(text).every(isNetwork)
        ? null
        : 'be addresses or networks such as 10.0.0.0/8, separated by commas',
  },
  LOG_LEVEL: {
    meaning: '`debug` (every request), `info` (events and faults), `warn`, `error` or `silent`',
    default: 'info',
    complain: oneOf(...LOG_LEVELS),
  },
} satisfies Record<string, Setting>

export type SettingName = keyof typeof settings

/** All settings, in the order of the documents. */
export const SETTINGS: Readonly<Record<SettingName, Setting>> = settings

/** All settings with their names. */
export const NAMED_SETTINGS = Object.entries(SETTINGS) as [SettingName, Setting][]

/** The parts between the commas. */
export function listOf(text: string | undefined): string[] {
  return text?.split(',').map((part) => part.trim()) ?? []
}

/** What a page would have to spell out can't be part of a name that all pages show. */
function complaintAboutSiteName(text: string): string | null {
  const complaint = complaintAboutLine(text, SITE_NAME_LENGTH_MAX)
  if (complaint !== null || escapeInvisible(text) === text) return complaint
  return 'have no invisible characters'
}

function complaintAboutHost(text: string): string | null {
  return /^\S+$/.test(text) ? null : 'be an IP address or a host name'
}

function complaintAboutPort(text: string): string | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? null : 'be a port from 0 to 65535'
}

/** The last value stands behind "or". */
function oneOf(...values: readonly string[]): Complain {
  const named = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
  return (text) => (values.includes(text) ? null : `be ${named}`)
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIP(address) === 4 ? 32 : 128
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  return isIP(address) !== 0 && fits && rest.length === 0
}
