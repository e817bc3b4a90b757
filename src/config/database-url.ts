import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { quote } from '../model/text.ts'
import { withoutSecrets } from './public-url.ts'
import { complaintAboutStray } from './stray.ts'

export type DatabaseConfig =
  | { engine: 'sqlite'; path: string }
  | { engine: 'postgres'; url: string }
  /** No usable database; `problem` tells the operator what to set. */
  | { engine: null; problem: string }

// Scheme, credentials, hosts and database, settings.
const NAMED = /^[a-z]+:\/\/(?:[^@/?#]*@)?([^?#]*)/i

/** The database in messages: the path of its file, or its hosts and name, without a password. */
export function nameDatabase(database: Exclude<DatabaseConfig, { engine: null }>): string {
  if (database.engine === 'sqlite') return database.path
  return NAMED.exec(database.url)?.[1] ?? 'the database of DATABASE_URL'
}

const CREDENTIALS = /^([a-z]+:\/\/[^:@/?#]*):[^@/?#]*@/i
const SECRET_PARAMETER = /([?&](?:ssl)?password=)[^&]*/gi

/** A URL with `…` for each password. */
export function maskPasswords(url: string): string {
  return url.replace(CREDENTIALS, '$1:…@').replace(SECRET_PARAMETER, '$1…')
}

/** Relative to the working directory. */
export const DEFAULT_DATABASE_PATH = 'data/server-listing.db'

/**
 * Reads the database from DATABASE_URL, or from the file that DATABASE_URL_FILE names. `source` is
 * how messages name DATABASE_URL.
 */
export function readDatabase(
  environment: Readonly<Record<string, string | undefined>>,
  source = 'DATABASE_URL',
): DatabaseConfig {
  const { DATABASE_URL: given, DATABASE_URL_FILE: file, NODE_ENV } = environment
  if (given !== undefined) return parseDatabaseUrl(given, source)
  if (file !== undefined) return readDatabaseUrlFile(file)
  if (NODE_ENV === 'production')
    return {
      engine: null,
      problem:
        'DATABASE_URL must be set in production, such as ' +
        'DATABASE_URL=sqlite:/var/lib/server-listing/listing.db',
    }
  return { engine: 'sqlite', path: resolve(DEFAULT_DATABASE_PATH) }
}

function readDatabaseUrlFile(file: string): DatabaseConfig {
  // An operator may have put the URL itself there.
  const name = `the file ${quote(withoutSecrets(file))} that DATABASE_URL_FILE names`
  try {
    return parseDatabaseUrl(readFileSync(file, 'utf8').trim(), name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { engine: null, problem: `cannot read ${name}: ${code}` }
  }
}

/** Parses a database URL. `source` names its origin and begins the error messages. */
export function parseDatabaseUrl(url: string, source: string): DatabaseConfig {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  // Accepts sqlite:data/x.db and sqlite:/var/x.db, and the latter as sqlite:///var/x.db too.
  const path = url.replace(/^sqlite:(?:\/\/(?=\/))?/i, '')
  const complaint =
    complaintAboutStray(url) ??
    complaintAboutStray(path) ??
    (path.startsWith('~')
      ? 'have the whole path of the file instead of ~, which only a shell expands'
      : null)
  if (complaint !== null) return { engine: null, problem: `${source} must ${complaint}` }
  if (scheme === 'sqlite') {
    const [file = '', query] = path.split(/\?(.*)/s)
    if (isFilePath(path) && query === undefined) return { engine: 'sqlite', path: resolve(path) }
    const found = `not ${quote(withoutSecrets(url))}`
    return {
      engine: null,
      problem: isFilePath(file)
        ? `${source} must end with the name of the file, ${found}. Remove the ? and what follows: a sqlite: URL has no parameters`
        : `${source} must name a file, such as sqlite:data/listing.db, ${found}`,
    }
  }
  // The rest of the URL may contain a password, so messages do not repeat it.
  if (scheme === 'postgres' || scheme === 'postgresql') {
    if (!POSTGRES_URL.test(url))
      return {
        engine: null,
        problem:
          `${source} must look like postgres://USER:PASSWORD@HOST:5432/DATABASE. ` +
          'Separate several hosts by commas: HOST:5432,HOST:5432',
      }
    const complaint = complaintAboutParameters(url)
    if (complaint === null) return { engine: 'postgres', url }
    return { engine: null, problem: `${source} must ${complaint}` }
  }
  const found = scheme === undefined ? 'no scheme' : `the scheme ${quote(scheme)}`
  return {
    engine: null,
    problem:
      `${source} must begin with sqlite: or postgres://, such as ` +
      `sqlite:data/listing.db, but it has ${found}`,
  }
}

function isFilePath(path: string): boolean {
  // A :memory: database would vanish with the command that created it.
  return path !== '' && path !== ':memory:' && !/^\/\/|\/$/.test(path)
}

const HOST = '(?:\\[[0-9a-f:.]+\\]|[^,:@/?#\\s\\[\\]]+)(?::\\d{1,5})?'
const POSTGRES_URL = new RegExp(
  `^postgres(?:ql)?://(?:[^@/?#\\s]*@)?${HOST}(?:,${HOST})*/[^/?#\\s]+(?:\\?[^#\\s]*)?$`,
  'i',
)

/** Parameters that the driver uses. */
const USED_PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'options',
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'host',
  'port',
  'user',
  'password',
]
/**
 * Parameters that only PostgreSQL's own programs use, which may have the same URL. The service has
 * its own rules for hosts and timeouts.
 */
const TOOL_PARAMETERS = [
  'connect_timeout',
  'target_session_attrs',
  'load_balance_hosts',
  'channel_binding',
  'gssencmode',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
]
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/** The error of the parameters of a URL, in words that follow "must". Null if they are valid. */
function complaintAboutParameters(url: string): string | null {
  const known = [...USED_PARAMETERS, ...TOOL_PARAMETERS]
  const names = new Set<string>()
  // Not decoded: what masks passwords and reads `sslmode` looks for the plain text.
  const query = /\?(.*)/.exec(url)?.[1] ?? ''
  for (const parameter of query.split('&').filter((each) => each !== '')) {
    const [name = '', value = ''] = parameter.split(/=(.*)/)
    if (!known.includes(name)) {
      // What follows a password may be the rest of it.
      const found = names.has('password')
        ? 'an unknown parameter (write %26 for each & in a password)'
        : `the unknown parameter ${quote(withoutRest(name))}`
      return `not have ${found}; the known ones are ${USED_PARAMETERS.join(', ')}`
    }
    if (names.has(name)) return `have the parameter ${name} only once`
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      return `have one of ${SSL_MODES.join(', ')} as sslmode, not ${quote(withoutRest(value))}`
    names.add(name)
  }
  return null
}

/** What follows an odd character may be another parameter, such as a password behind a `;`. */
function withoutRest(text: string): string {
  return text.replace(/[^\w%-].*/s, '…')
}
