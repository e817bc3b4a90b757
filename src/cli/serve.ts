import { randomBytes } from 'node:crypto'
import closeWithGrace, { type Options } from 'close-with-grace'
import type { Command } from 'commander'
import { urlOf } from '../config.ts'
import type { DatabaseConfig } from '../database-url.ts'
import { NotConfigured } from '../listing/faults.ts'
import { createLog, type Log } from '../log.ts'
import { openAccounts } from '../open-accounts.ts'
import { type OpenedStore, openServingStore } from '../open-store.ts'
import { startService } from '../service.ts'
import { loadConfig } from './context.ts'
import { Failure } from './errors.ts'

/** From the signal to the end of the process, in milliseconds. */
const CLOSE_MS = 10_000

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the API until SIGTERM or SIGINT')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=sqlite:/var/lib/server-listing/listing.db PORT=80 server-listing serve',
    )
    .action(serve)
}

async function serve(): Promise<void> {
  const config = loadConfig()
  const { host, port, baseUrl, dashboardPort, dashboardUrl, logLevel } = config
  const log = createLog(logLevel)
  const opened = await openOrExplain(config.database, log)
  const { store } = opened
  const service = await startService({
    ...opened,
    host,
    port,
    log,
    dashboard: { ...config, port: dashboardPort, openAccounts: () => openAccounts(store!, config) },
  }).catch(async (error: unknown) => {
    await store?.close()
    throw listenFailure(error, host, port, dashboardPort)
  })
  // Before the line that somebody may wait for to send a signal.
  const closed = untilClosed(async (reason) => {
    log.info(`closing: ${reason}`)
    await service.close()
    await log.close('closed')
  }, log)
  const publicly = baseUrl === urlOf(host, port) ? '' : `, reached by the public at ${baseUrl}`
  log.info(`listening on ${urlOf(service.host, service.port)}${publicly}`)
  const at = urlOf(service.host, service.dashboardPort)
  const isPublic = dashboardUrl !== urlOf(host, dashboardPort)
  log.info(`dashboard at ${isPublic ? `${dashboardUrl}, from ${at}` : at}`)
  if (store !== null) await printSetupLink(store, isPublic ? dashboardUrl : at, log)
  await closed
}

/** Without a database that could be used the service runs all the same: it answers 503, and the log says why. */
async function openOrExplain(
  database: DatabaseConfig,
  log: Log,
): Promise<{ store: OpenedStore } | { store: null; problem: Error }> {
  try {
    return { store: await openServingStore(database, log.fault) }
  } catch (error) {
    if (!(error instanceof NotConfigured)) throw error
    log.error(`not configured, so every key is answered 503: ${error.message}`)
    return { store: null, problem: error }
  }
}

/** How the first account of an empty installation is made in a browser. */
async function printSetupLink(store: OpenedStore, url: string, log: Log): Promise<void> {
  try {
    if (await store.hasUsers()) return
    const token = await store.keepSecret('setup', randomBytes(16).toString('hex'))
    log.info(`nobody has an account yet; the first one is made at ${url}/setup/${token}`)
  } catch (fault) {
    log.fault(fault)
  }
}

function listenFailure(
  error: unknown,
  host: string,
  apiPort: number,
  dashboardPort: number,
): unknown {
  const failed = (error as { port?: number }).port
  const isDashboard = failed === dashboardPort && failed !== apiPort
  const [variable, port] = isDashboard ? ['DASHBOARD_PORT', dashboardPort] : ['PORT', apiPort]
  const address = `HOST ${host}, ${variable} ${port}`
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure(
        `cannot listen on ${address}: another process does; stop that one, or set ${variable} to another`,
      )
    case 'EACCES':
      return new Failure(
        `cannot listen on ${address}: this user may not use the port; set ${variable} to 1024 or more`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAFNOSUPPORT':
      return new Failure(
        `cannot listen on ${address}: this machine has no such address; set HOST to 127.0.0.1 for this machine alone, or to 0.0.0.0 for all that can reach it`,
      )
    default:
      return error
  }
}

/** Resolves when a signal has come and everything is closed; a mistake in the program ends the process with 1. */
function untilClosed(close: (reason: string) => Promise<void>, log: Log): Promise<void> {
  return new Promise((resolve) => {
    const options: Options = {
      delay: CLOSE_MS,
      logger: false,
      onTimeout: () => log.error(`ended after ${CLOSE_MS} ms, before everything was closed`),
      onSecondSignal: (signal) => log.error(`ended at once: ${signal}, the second signal`),
      onSecondError: (error) => log.fault(error),
    }
    closeWithGrace(options, async ({ err, signal }) => {
      if (err !== undefined) log.fault(err)
      try {
        await close(signal ?? 'a mistake in the program')
      } catch (fault) {
        log.fault(fault)
        throw fault
      }
      resolve()
    })
  })
}
