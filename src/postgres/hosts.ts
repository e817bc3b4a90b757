import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'

/** The hosts of one DATABASE_URL. One of them at a time is the primary. */
export interface Hosts {
  /** The URL of the host to try next. */
  current(): string
  count: number
  /** Moves on from a failed host, unless another call has done so. */
  avoid(url: string): void
}

// Scheme, credentials, hosts and the rest. A URL parser rejects a list of hosts.
const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)(.*)$/i
type Parts = [url: string, scheme: string, credentials: string, list: string, rest: string]

export function hostsOf(url: string): Hosts {
  const [, scheme, credentials, list, rest] = PARTS.exec(url) as unknown as Parts
  const urls = list
    .split(',')
    .map((host) => `${scheme}${credentials}${host}${rest}`)
    .flatMap(readingsOf)
  let index = 0
  return {
    current: () => urls[index]!,
    count: urls.length,
    avoid(failed) {
      if (urls[index] !== failed) return
      index = (index + 1) % urls.length
    },
  }
}

/** The part of a client that the driver's types leave out. */
interface DriverConnection extends EventEmitter {
  stream: Socket
}

/**
 * A client class whose next instance connects to the host that is probably the primary. `onClient`
 * gets each instance with its URL.
 */
export function clientFor(
  hosts: Hosts,
  onClient: (client: pg.ClientBase, url: string) => void,
): typeof pg.Client {
  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      const url = hosts.current()
      super({ ...config, connectionString: url })
      onClient(this, url)
      // After some errors, such as a missing password, the driver leaves the socket open. Each
      // attempt would hold one of the server's connections until its timeout of a minute.
      const { connection } = this as unknown as { connection: DriverConnection }
      connection.on('error', () => connection.stream.destroy())
    }
  }
}

/**
 * Makes `sslmode` mean what it means elsewhere: by default the driver takes every mode for
 * `verify-full`. It does not know `prefer`, which becomes one mode and then the other.
 */
function readingsOf(url: string): string[] {
  const mode = /[?&]sslmode=([^&]*)/.exec(url)?.[1]
  if (mode === undefined) return [url]
  const modes = mode === 'prefer' ? ['require', 'disable'] : [mode]
  return modes.map((mode) =>
    `${url}&uselibpqcompat=true`.replace(/([?&]sslmode=)[^&]*/, `$1${mode}`),
  )
}
