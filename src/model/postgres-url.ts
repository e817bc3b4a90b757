import { quote } from './text.ts'

/** A URL of PostgreSQL, read as PostgreSQL's own programs read it. */
export interface PostgresUrl {
  /** In the order of the attempts. */
  hosts: readonly PostgresHost[]
  database: string
  /** Empty if the URL has none. */
  user: string
  password: string
  /** The parameters that the service uses, but those of the other fields. */
  parameters: ReadonlyMap<string, string>
}

export interface PostgresHost {
  /** A name, an address, or the folder of a Unix socket, which begins with `/`. */
  host: string
  port: number
}

// User, password, hosts, database and parameters. A URL parser rejects a list of hosts. An @ stands
// behind the password only: else a part of a password could be read as something else.
const PARTS =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#\s]*)(?::([^@/?#\s]*))?@)?([^@/?#\s]*)\/([^@/?#\s]+)(?:\?([^@#\s]*))?$/i
const PORT = '5432'

/** Reads a URL. A complaint has words that follow "must", and no password. */
export function readPostgresUrl(url: string): PostgresUrl | { complaint: string } {
  const [, user = '', password = '', authority = '', database = '', query = ''] =
    PARTS.exec(url) ?? []
  if (database === '') return { complaint: SHAPE }
  if (/%(?:[01][\da-f]|7f)/i.test(url))
    return { complaint: 'have no control character, such as %00' }
  const parameters = new Map<string, string>()
  const complaint = readParameters(query, parameters) ?? complaintAboutTls(parameters)
  if (complaint !== null) return { complaint }
  const hosts = readHosts(authority, parameters)
  if ('complaint' in hosts) return hosts
  return {
    hosts,
    database: decode(database),
    user: parameters.get('user') ?? decode(user),
    password: parameters.get('password') ?? decode(password),
    parameters,
  }
}

const SHAPE =
  'look like postgres://USER:PASSWORD@HOST:5432/DATABASE. Percent-encode reserved characters in ' +
  'the password: %40 for @, %2F for /, %3F for ?, %23 for #. Separate several hosts by commas: ' +
  'HOST:5432,HOST:5432'

/** Parameters that the service uses. */
const USED_PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'options',
  'application_name',
  'host',
  'port',
  'user',
  'password',
]
/**
 * Parameters that only PostgreSQL's own programs use, which may have the same URL. The service has
 * its own rules for hosts, timeouts and the encoding.
 */
const TOOL_PARAMETERS = [
  'fallback_application_name',
  'client_encoding',
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
const VALUES: Record<string, readonly string[]> = {
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
  sslnegotiation: ['postgres', 'direct'],
}

/** Adds the parameters to the map. Returns the error of the first wrong one. */
function readParameters(query: string, parameters: Map<string, string>): string | null {
  // The names are not decoded: what masks passwords looks for the plain text.
  for (const parameter of query.split('&').filter((each) => each !== '')) {
    const [name = '', value = ''] = parameter.split(/=(.*)/)
    if (![...USED_PARAMETERS, ...TOOL_PARAMETERS].includes(name)) {
      // What follows a password may be the rest of it.
      const found = parameters.has('password')
        ? 'an unknown parameter (write %26 for each & in a password)'
        : `the unknown parameter ${quote(withoutRest(name))}`
      return `not have ${found}; the known ones are ${USED_PARAMETERS.join(', ')}`
    }
    if (parameters.has(name)) return `have the parameter ${name} only once`
    if (VALUES[name]?.includes(value) === false)
      return `have one of ${VALUES[name].join(', ')} as ${name}, not ${quote(withoutRest(value))}`
    parameters.set(name, decode(value))
  }
  return null
}

/** What follows an odd character may be another parameter, such as a password behind a `;`. */
function withoutRest(text: string): string {
  return text.replace(/[^\w%-].*/s, '…')
}

/** Modes that promise more than the other parameters let them keep, or less. */
function complaintAboutTls(parameters: ReadonlyMap<string, string>): string | null {
  const [mode, root, negotiation] = ['sslmode', 'sslrootcert', 'sslnegotiation'].map((name) =>
    parameters.get(name),
  )
  if (mode === 'verify-ca' && root === undefined)
    return 'have sslrootcert with sslmode=verify-ca, or sslmode=verify-full'
  if (root === 'system' && mode !== undefined && mode !== 'verify-full')
    return 'have sslmode=verify-full with sslrootcert=system'
  if (negotiation === 'direct' && (mode === 'disable' || mode === 'prefer'))
    return 'have sslmode=require, verify-ca or verify-full with sslnegotiation=direct'
  return null
}

/** The parameters `host` and `port` replace what stands before the name of the database. */
function readHosts(
  authority: string,
  parameters: ReadonlyMap<string, string>,
): PostgresHost[] | { complaint: string } {
  const written = authority === '' ? [] : authority.split(',').map((each) => HOST.exec(each))
  if (written.includes(null)) return { complaint: SHAPE }
  const hosts =
    parameters.get('host')?.split(',') ??
    written.map((parts) => parts?.[1] ?? decode(parts?.[2] ?? ''))
  const ports = parameters.get('port')?.split(',') ?? written.map((parts) => parts?.[3] ?? PORT)
  if (hosts.length === 0 || hosts.includes(''))
    return {
      complaint:
        'name a host, as in postgres://USER:PASSWORD@HOST:5432/DATABASE, or the folder of a Unix ' +
        'socket, as in postgres://USER@/DATABASE?host=/run/postgresql',
    }
  if (ports.length > 1 && ports.length !== hosts.length)
    return { complaint: `have one port, or one for each host, not ${ports.length} ports` }
  if (
    !ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) <= PORT_MAX && Number(port) > 0)
  )
    return { complaint: `have a port from 1 to ${PORT_MAX}` }
  return hosts.map((host, index) => ({ host, port: Number(ports[index] ?? ports[0] ?? PORT) }))
}

// An IPv6 address in brackets, or anything else, and a port.
const HOST = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i
const PORT_MAX = 65_535

/** Leaves a `%` alone that encodes nothing, because passwords may have one. */
function decode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
