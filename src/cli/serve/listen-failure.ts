import type { Config } from '../../config/config.ts'
import { UnusableTokens } from '../../management/tokens.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'

/** A port that can't be opened as a sentence with the settings to change; any other error as is. */
export function listenFailure(error: unknown, config: Config): unknown {
  if (error instanceof UnusableTokens) return new Misuse(error.message)
  const [host, port] = settingsOf(error as Partial<ListenError>, config)
  const address = `${host.name} ${host.value}, ${port.name} ${port.value}`
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure(
        `cannot listen on ${address}: another process uses the port. Stop that process, or set ` +
          `${port.name} to another port${config.reusePort ? hintAboutSharing(port.name) : ''}`,
      )
    case 'ENOTSUP':
      return new Failure(
        `cannot listen on ${address}: this system cannot share a port. Set REUSE_PORT to off`,
      )
    case 'EACCES':
      return new Failure(
        `cannot listen on ${address}: this user may not use the port. Set ${port.name} to 1024 ` +
          'or higher',
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAFNOSUPPORT':
      return new Failure(
        `cannot listen on ${address}: this machine has no such address. Set ${host.name} to ` +
          '127.0.0.1 for local clients only, or to 0.0.0.0 for all clients',
      )
    default:
      return error
  }
}

/** Where Node.js could not listen. The name of a host without an address has no port. */
interface ListenError {
  port: number
  address: string
  hostname: string
}

interface Setting {
  name: string
  value: string | number
}

/** The settings of the listener that failed. */
function settingsOf(
  { port: failedPort, hostname, address }: Partial<ListenError>,
  { host, port, dashboardPort, opsHost, opsPort, management }: Config,
): [host: Setting, port: Setting] {
  const apart = [
    { name: 'OPS', host: opsHost, port: opsPort },
    ...(management === null ? [] : [{ name: 'MANAGEMENT', ...management }]),
  ]
  const failed = apart.find((one) => {
    const isItsHost = (hostname ?? address) === one.host && one.host !== host
    if (failedPort === undefined) return isItsHost
    return failedPort === one.port && (isItsHost || one.port !== port)
  })
  if (failed !== undefined)
    return [
      { name: `${failed.name}_HOST`, value: failed.host },
      { name: `${failed.name}_PORT`, value: failed.port },
    ]
  const isDashboard = failedPort === dashboardPort && dashboardPort !== port
  return [
    { name: 'HOST', value: host },
    isDashboard ? { name: 'DASHBOARD_PORT', value: dashboardPort } : { name: 'PORT', value: port },
  ]
}

function hintAboutSharing(port: string): string {
  if (port === 'OPS_PORT')
    return '. Each process has health and metrics of its own, so each needs its own OPS_PORT'
  return port === 'MANAGEMENT_PORT'
    ? '. Each process needs its own MANAGEMENT_PORT'
    : '. To share it, both processes need REUSE_PORT=on and the same user'
}
