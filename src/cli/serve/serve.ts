import { readFileSync } from 'node:fs'
import { CONNECTIONS_MAX, type Service, startService } from '../../service.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { type Config, isEveryAddress, ownUrlOf, urlOf } from '../../config/config.ts'
import { type DatabaseConfig, inspectIgnored, nameDatabase } from '../../config/database-url.ts'
import { NotConfigured } from '../../model/faults.ts'
import { type Finding, sentenceOf, warning } from '../../model/health/finding.ts'
import type { ServingStore } from '../../database/store.ts'
import { createLog, type Log } from '../../log/log.ts'
import { openServingStore } from '../../open-store.ts'
import { loadConfig } from '../../terminal/context.ts'
import { MissingDatabase, Misuse } from '../../terminal/errors.ts'
import { readVersion } from '../version.ts'
import { listenFailure } from './listen-failure.ts'
import { type SettingOptions, settingsOf } from './options.ts'
import { printSetupLink } from './setup-link.ts'
import { ignoreSignals, untilClosed } from './signals.ts'
import type { Shell } from '../../terminal/shell.ts'

export interface ServeOptions extends SettingOptions {
  /** Throws MissingDatabase instead of answering 503. */
  requireDatabase?: boolean
}

/** Serves until SIGTERM or SIGINT. */
export async function serve(shell: Shell, options: ServeOptions): Promise<void> {
  const config = loadConfig(shell, settingsOf(options))
  // A wrong variable leaves a service that answers 503, and a wrong command line is an error.
  if (options.database !== undefined && config.database.engine === null)
    throw new Misuse(config.database.problem)
  if (config.oidc?.clientSecret === '')
    throw new Misuse('OIDC_ISSUER needs OIDC_CLIENT_SECRET_FILE: set it')
  const { host, port, reusePort, dashboardPort, opsHost, opsPort, logLevel } = config
  const log = createLog(logLevel)
  ignoreSignals(log)
  const note = (finding: Finding) => finding.state === 'ok' || log.warn(sentenceOf(finding))
  for (const finding of [
    ...inspectOpenFiles(config),
    ...inspectIgnored(config.database, shell.env),
  ])
    note(finding)
  const opened = await openOrExplain(config.database, log, note, options.requireDatabase ?? false)
  const { store } = opened
  const version = readVersion()
  const engine = config.database.engine ?? 'none'
  const service = await startService({
    ...opened,
    host,
    port,
    reusePort,
    log,
    dashboard: { ...config, port: dashboardPort, version },
    ops: { host: opsHost, port: opsPort, log, build: { version, engine } },
    management: config.management && { ...config.management, warn: log.warn },
  }).catch(async (error: unknown) => {
    await store?.close()
    throw listenFailure(error, config)
  })
  const closing = new AbortController()
  const drainMs = 1_000 * config.drainSeconds
  // Before the log line below: a supervisor may wait for that line and then send a signal.
  const closed = untilClosed(log, drainMs, async (signal) => {
    log.info(`closing: ${signal ?? 'an uncaught error'}`)
    closing.abort()
    service.drain()
    if (signal !== null) await delay(drainMs)
    await service.close()
    await log.close('closed')
  })
  const { dashboardUrl, hint } = sayWhere(config, service, log)
  if (service.ops !== null)
    log.info(`health and metrics at ${urlOf(service.ops.host, service.ops.port)}`)
  if (service.management !== null)
    log.info(`management API at ${urlOf(service.management.host, service.management.port)}`)
  if (config.database.engine !== null) log.info(`database: ${nameDatabase(config.database)}`)
  if (!config.passwords && config.oidc === null)
    log.info('users sign in by links alone: `server-listing user link` makes the first one')
  if (store !== null && config.passwords)
    await printSetupLink(store, dashboardUrl, hint, log, closing.signal)
  await closed
}

/**
 * Logs the URLs of the API and of the dashboard. Returns that of the dashboard, with a hint for
 * other machines.
 */
function sayWhere(
  { baseUrl, dashboardUrl }: Config,
  service: Service,
  log: Log,
): { dashboardUrl: string; hint: string } {
  const publicly = baseUrl === null ? '' : `, public URL ${baseUrl}`
  log.info(`listening on ${urlOf(service.host, service.port)}${publicly}`)
  const at = urlOf(service.host, service.dashboardPort)
  if (dashboardUrl !== null) {
    log.info(`dashboard at ${dashboardUrl}, listening on ${at}`)
    return { dashboardUrl, hint: '' }
  }
  log.info(`dashboard at ${at}`)
  const own = ownUrlOf(service.host, service.dashboardPort)
  const { hostname } = new URL(own)
  return {
    dashboardUrl: own,
    hint: isEveryAddress(service.host)
      ? ` (on another machine, replace ${hostname} with the name or address of this machine)`
      : '',
  }
}

/**
 * Without a usable database the service still starts, unless it requires one. It answers 503, and
 * the log says why.
 */
async function openOrExplain(
  database: DatabaseConfig,
  log: Log,
  note: (finding: Finding) => void,
  requireDatabase: boolean,
): Promise<{ store: ServingStore } | { store: null; problem: Error }> {
  try {
    const store = await openServingStore(database, log.fault, note)
    if (requireDatabase) await assertUsable(store)
    return { store }
  } catch (error) {
    if (!(error instanceof NotConfigured)) throw error
    if (requireDatabase) throw new MissingDatabase(error.message)
    log.error(`not configured, so every key gets 503: ${error.message}`)
    return { store: null, problem: error }
  }
}

/** A database that can't be reached may come back by itself. */
async function assertUsable(store: ServingStore): Promise<void> {
  try {
    await store.prepare()
  } catch (error) {
    if (!(error instanceof NotConfigured)) return
    await store.close()
    throw error
  }
}

/** For 100 connections to the health checks, and for the files that the service itself opens. */
const FILES_BESIDE = 150

/**
 * Warns if this process may open fewer files than the service needs. Node.js has already raised the
 * soft limit to the hard limit.
 */
function inspectOpenFiles(config: Config): Finding[] {
  const limit = readLimit()
  const { api, dashboard } = CONNECTIONS_MAX
  const beside = FILES_BESIDE + (config.management === null ? 0 : CONNECTIONS_MAX.management)
  const needed = api + dashboard + beside
  if (limit === null || limit >= needed) return []
  const found =
    `this process may open ${limit} files and needs up to ${needed}: ${api} connections to the ` +
    `API, ${dashboard} to the dashboard, and ${beside} others. ` +
    'At the limit, the service drops new connections'
  const advice =
    `set LimitNOFILE=${needed} in the systemd unit, or run \`ulimit -n ${needed}\` before you ` +
    'start the service'
  return [warning('open_files', found, advice)]
}

/** The soft limit; null if it is unlimited or the system has no `/proc`. */
function readLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}
