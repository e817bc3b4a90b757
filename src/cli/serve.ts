import closeWithGrace, { type Options } from 'close-with-grace'
import type { Command } from 'commander'
import { type DatabaseConfig, urlOf } from '../config.ts'
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
  // Before the line that somebody may wait for to send a signal.
  const closed = untilClosed(async (reason) => {
    log.info(`closing: ${reason}`)
    await service.close()
    await log.close('closed')
  }, log)
  const publicly = baseUrl === urlOf(host, port) ? '' : `, reached by the public at ${baseUrl}`
  log.info(`listening on ${urlOf(service.host, service.port)}${publicly}`)
  await closed
}

/** Without a database that could be used the service runs all the same: it answers 503, and the log says why. */
async function openOrExplain(database: DatabaseConfig, log: Log): Promise<ServiceOptions['store']> {
  try {
    return await openServingStore(database, log.fault)
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
      return new Failure(
        `cannot listen on ${address}: another process does; stop that one, or set PORT to another`,
      )
    case 'EACCES':
      return new Failure(
        `cannot listen on ${address}: this user may not use the port; set PORT to 1024 or more`,
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
