import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { userInfo } from 'node:os'
import { type ConnectionOptions, getCACertificates } from 'node:tls'
import pg from 'pg'
import { NotConfigured } from '../model/faults.ts'
import { readText } from '../model/input.ts'
import { type PostgresHost, type PostgresUrl, readPostgresUrl } from '../model/postgres-url.ts'
import { quote } from '../model/text.ts'

/** The hosts of one DATABASE_URL. One of them at a time is the primary. */
export interface Hosts {
  /** How to try the next host. */
  current(): Attempt
  count: number
  /** Moves on from a failed attempt, unless another call has done so. */
  avoid(attempt: Attempt): void
}

/** A way to connect to a host of a DATABASE_URL. */
export interface Attempt extends PostgresHost {
  url: PostgresUrl
  sslMode: string
}

export function hostsOf(url: string): Hosts {
  const attempts = attemptsOf(url)
  let index = 0
  return {
    current: () => attempts[index]!,
    count: attempts.length,
    avoid(failed) {
      if (attempts[index] !== failed) return
      index = (index + 1) % attempts.length
    },
  }
}

/** `prefer` is one mode and then the other. */
function attemptsOf(text: string): Attempt[] {
  const url = readPostgresUrl(text)
  if ('complaint' in url) throw new NotConfigured(`DATABASE_URL must ${url.complaint}`)
  const { parameters } = url
  const isSecure =
    ['sslrootcert', 'sslcert', 'sslkey'].some((name) => parameters.has(name)) ||
    parameters.get('sslnegotiation') === 'direct'
  const mode = parameters.get('sslmode') ?? (isSecure ? 'verify-full' : 'disable')
  const sslModes = mode === 'prefer' ? ['require', 'disable'] : [mode]
  return url.hosts.flatMap((host) =>
    isSocket(host)
      ? [{ ...host, url, sslMode: 'disable' }]
      : sslModes.map((sslMode) => ({ ...host, url, sslMode })),
  )
}

const isSocket = ({ host }: PostgresHost): boolean => host.startsWith('/')

/** The parts of a client that the driver's types leave out. */
interface DriverClient {
  connection: EventEmitter & { stream: Socket }
  connectionParameters: { options: string | undefined; replication: string | undefined }
}

/** A client that connects to a host as its URL says. The PG* variables have no effect on it. */
export class HostClient extends pg.Client {
  constructor(attempt: Attempt, config: pg.ClientConfig) {
    const { parameters, database, password, user } = attempt.url
    super({
      ...config,
      host: attempt.host,
      port: attempt.port,
      user: user === '' ? ownName() : user,
      // For an empty text, the driver would take PGPASSWORD or a password file.
      password: () => password,
      database,
      ssl: tlsOf(attempt),
      sslnegotiation: parameters.get('sslnegotiation') === 'direct' ? 'direct' : 'postgres',
      application_name: parameters.get('application_name') ?? config.application_name,
    })
    const { connection, connectionParameters } = this as unknown as DriverClient
    // The driver would take PGOPTIONS and PGREPLICATION for none.
    connectionParameters.options = parameters.get('options')
    connectionParameters.replication = undefined
    // After some errors, such as a missing password, the driver leaves the socket open. Each
    // attempt would hold one of the server's connections until its timeout of a minute.
    connection.on('error', () => connection.stream.destroy())
  }
}

/** As PostgreSQL's own programs, which sign in with the name of the process's user. */
function ownName(): string {
  try {
    return userInfo().username
  } catch (error) {
    throw new NotConfigured(
      'DATABASE_URL must name a user, as in postgres://USER@…, because the user of this process has no name',
      { cause: error },
    )
  }
}

/**
 * A client class whose next instance connects to the host that is probably the primary. `onClient`
 * gets each instance with its attempt.
 */
export function clientFor(
  hosts: Pick<Hosts, 'current'>,
  onClient: (client: pg.ClientBase, attempt: Attempt) => void,
): typeof pg.Client {
  return class extends HostClient {
    constructor(config: pg.ClientConfig) {
      const attempt = hosts.current()
      super(attempt, config)
      onClient(this, attempt)
    }
  }
}

/**
 * What `sslmode` means to PostgreSQL's own programs. Reads the files each time, because a renewal
 * replaces them. Throws NotConfigured.
 */
function tlsOf({ sslMode, url: { parameters } }: Attempt): ConnectionOptions | false {
  if (sslMode === 'disable') return false
  const read = (name: string) => {
    const file = parameters.get(name)
    if (file === undefined) return undefined
    const text = readText(file, `the file ${quote(file)} that DATABASE_URL names as ${name}`, true)
    if ('complaint' in text) throw new NotConfigured(text.complaint)
    return text.text
  }
  const isSystem = parameters.get('sslrootcert') === 'system'
  const ca = isSystem ? getCACertificates('system') : read('sslrootcert')
  return {
    ca,
    cert: read('sslcert'),
    key: read('sslkey'),
    rejectUnauthorized: sslMode !== 'require' || ca !== undefined,
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}
