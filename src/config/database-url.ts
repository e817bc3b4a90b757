import { resolve } from 'node:path'
import { type Finding, warning } from '../model/health/finding.ts'
import { readText } from '../model/input.ts'
import { type PostgresUrl, readPostgresUrl } from '../model/postgres-url.ts'
import { quote } from '../model/text.ts'
import { withoutSecrets } from './public-url.ts'
import { complaintAboutStray } from './stray.ts'

export type DatabaseConfig =
  | { engine: 'sqlite'; path: string }
  | { engine: 'postgres'; url: string }
  /** No usable database; `problem` tells the operator what to set. */
  | { engine: null; problem: string }

/** The database in messages: the path of its file, or the hosts and the name that are used. */
export function nameDatabase(database: Exclude<DatabaseConfig, { engine: null }>): string {
  if (database.engine === 'sqlite') return database.path
  const { hosts, database: name } = readPostgresUrl(database.url) as PostgresUrl
  const places = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  return `${places.join()}/${name}`
}

/** With these, PostgreSQL's own programs connect to another database or in another way. */
const PG_VARIABLE =
  /^PG(HOST(ADDR)?|PORT|DATABASE|USER|PASSWORD|PASSFILE|SERVICE(FILE)?|OPTIONS|SSL[A-Z]+)$/

/** Warns of variables that only PostgreSQL's own programs use. */
export function inspectIgnored(
  database: DatabaseConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const names = Object.keys(environment)
    .toSorted()
    .filter((name) => PG_VARIABLE.test(name) && environment[name])
  if (database.engine !== 'postgres' || names.length === 0) return []
  return [
    warning(
      'pg_variables',
      `the service ignores ${names.join(', ')}`,
      'write into DATABASE_URL how to connect',
    ),
  ]
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
  const read = readText(file, name)
  if ('text' in read) return parseDatabaseUrl(read.text.trim(), name)
  return { engine: null, problem: read.complaint }
}

/** Parses a database URL. `source` names its origin and begins the error messages. */
export function parseDatabaseUrl(url: string, source: string): DatabaseConfig {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  // Accepts sqlite:data/x.db and sqlite:/var/x.db, and the latter as sqlite:///var/x.db too.
  const path = url.replace(/^sqlite:(?:\/\/(?=\/))?/i, '')
  const complaint =
    complaintAboutStray(url) ??
    complaintAboutStray(path) ??
    (scheme === 'sqlite' && /^~|\$/.test(path)
      ? 'have the whole path of the file instead of ~ or a variable, which only a shell expands'
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
    const read = readPostgresUrl(url)
    return 'complaint' in read
      ? { engine: null, problem: `${source} must ${read.complaint}` }
      : { engine: 'postgres', url }
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
