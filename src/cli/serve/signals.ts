import closeWithGrace, { type Options } from 'close-with-grace'
import type { Log } from '../../log/log.ts'

/**
 * From the end of draining to the end of the process, in milliseconds. A listener for `exit` must
 * not wait.
 */
export const CLOSE_MS = 10_000
const WATCH_MS = 250

/**
 * Ignores the signals that tools send to daemons for other purposes. SIGHUP ends the service only
 * if its log is on a terminal, because that terminal is gone. A listener for SIGUSR1 also keeps
 * Node.js from starting its debugger.
 */
export function ignoreSignals(log: Pick<Log, 'info'>): void {
  for (const signal of ['SIGUSR1', ...ignored()] as const)
    process.on(signal, () =>
      log.info(
        `ignored ${signal}: only SIGTERM and SIGINT end the service, and it has nothing to reload`,
      ),
    )
}

function ignored(): ('SIGHUP' | 'SIGUSR2')[] {
  return process.stdout.isTTY ? ['SIGUSR2'] : ['SIGUSR2', 'SIGHUP']
}

/**
 * Resolves after a signal, when everything is closed. An uncaught error, for which `close` gets
 * null, ends the process with exit code 1.
 */
export function untilClosed(
  log: Log,
  drainMs: number,
  close: (signal: string | null) => Promise<void>,
): Promise<void> {
  const stopWatching = watchNpx()
  return new Promise((resolve) => {
    const options: Options = {
      delay: drainMs + CLOSE_MS,
      logger: false,
      skip: ignored(),
      onTimeout: () =>
        log.error(`exiting after ${drainMs + CLOSE_MS} ms, although not everything is closed`),
      onSecondSignal: (signal) => log.error(`exiting at once: ${signal} is the second signal`),
      onSecondError: (error) => log.fault(error),
    }
    closeWithGrace(options, async ({ err, signal }) => {
      // A supervisor may signal all processes, and the end of the shell is no second signal then.
      stopWatching()
      if (err !== undefined) log.fault(err)
      try {
        await close(signal ?? null)
      } catch (fault) {
        log.fault(fault)
        throw fault
      }
      resolve()
    })
  })
}

/**
 * npx runs a command below a shell and sends a signal to the shell only. The end of the shell
 * therefore counts as the signal. Otherwise the service would keep the port without a parent. After
 * SIGHUP the end of the shell means nothing. Returns a function that ends the watch.
 */
function watchNpx(): () => void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env
  if (event !== 'npx' || !/^\W?server-listing\b/.test(script)) return () => {}
  const parent = process.ppid
  let ending: NodeJS.Immediate | undefined
  const stop = () => {
    clearInterval(timer)
    clearImmediate(ending)
  }
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    // After a signal that has arrived already.
    ending = setImmediate(() => process.kill(process.pid, 'SIGTERM'))
  }, WATCH_MS).unref()
  process.once('SIGHUP', stop)
  return stop
}
