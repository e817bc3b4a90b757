import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import type { DatabaseConfig } from '../config.ts'
import { NotConfigured } from '../listing/faults.ts'
import { createLog, type Log } from '../log.ts'
import { openServingStore } from '../open-store.ts'
import { type ServiceOptions, startService } from '../service.ts'
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
  const { database, host, port, baseUrl, logLevel } = loadConfig()
  const log = createLog(logLevel)
  const store = await openOrExplain(database, log)
  const service = await startService({ store, host, port, log }).catch(async (error: unknown) => {
    await store.close()
    throw listenFailure(error, host, port)
  })
  log.info(
    `listening on http://${urlHost(service.host)}:${service.port}, reached by the public at ${baseUrl}`,
  )
  await untilClosed(async (reason) => {
    log.info(`closing: ${reason}`)
    await service.close()
    log.info('closed')
  }, log)
}

/** Without a database that could be used the service runs all the same: it answers 503, and the log says why. */
async function openOrExplain(database: DatabaseConfig, log: Log): Promise<ServiceOptions['store']> {
  try {
    return await openServingStore(database)
  } catch (error) {
    if (!(error instanceof NotConfigured)) throw error
    log.error(`not configured, so every key is answered 503: ${error.message}`)
    return { useApiKey: () => Promise.reject(error), close: async () => {} }
  }
}

function listenFailure(error: unknown, host: string, port: number): unknown {
  const address = `HOST ${host}, PORT ${port}`
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Failure(`cannot listen on ${address}: another process does`)
    case 'EACCES':
      return new Failure(`cannot listen on ${address}: this user may not use the port`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Failure(`cannot listen on ${address}: this machine has no such address`)
    default:
      return error
  }
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Resolves when a signal has come and everything is closed; a mistake in the program ends the process with 1. */
function untilClosed(close: (reason: string) => Promise<void>, log: Log): Promise<void> {
  return new Promise((resolve) => {
    closeWithGrace({ delay: CLOSE_MS, logger: false }, async ({ err, signal }) => {
      if (err !== undefined) log.fault(err)
      await close(signal ?? 'a mistake in the program')
      resolve()
    })
  })
}
