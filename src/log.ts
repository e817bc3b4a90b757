import { once } from 'node:events'
import { type DestinationStream, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { LogLevel } from './config.ts'
import type { HttpEvent } from './http/message.ts'

/**
 * What the service writes about itself: events and faults, and at `debug` every request. Each line is made from the
 * fields named here and from nothing else, so no header, target or key can be in one.
 */
export interface Log {
  /** Something the operator may want to know. */
  info(message: string): void
  /** Something the operator has to act on. */
  error(message: string): void
  /** A failure behind an answer. One line a second for each kind at most; the next one counts what was left out. */
  fault(fault: unknown): void
  http(event: HttpEvent): void
  /** Writes a last line. Resolves when all lines are written, or after a second in which that was not possible. */
  close(message: string): Promise<void>
}

const FAULT_INTERVAL_MS = 1_000
const CLOSE_MS = 1_000
/** Characters of lines that could not be written yet. */
const OUTPUT_WAITING_MAX = 1_048_576

/** A log on standard output: a JSON line each, or lines for people where that is a terminal. */
export function createLog(level: LogLevel): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const output = openOutput()
  const logger = pino(options, process.stdout.isTTY ? forPeople(output) : output)
  const faults = new Map<string, { loggedAt: number; leftOut: number }>()

  return {
    info: (message) => logger.info(message),
    error: (message) => logger.error(message),

    fault(fault) {
      const { name, ...fields } = describe(fault)
      const now = performance.now()
      const before = faults.get(name)
      if (before !== undefined && now - before.loggedAt < FAULT_INTERVAL_MS) {
        before.leftOut += 1
        return
      }
      const leftOut = before !== undefined && before.leftOut > 0 ? { left_out: before.leftOut } : {}
      logger.error({ fault: name, ...fields, ...leftOut }, 'fault')
      faults.set(name, { loggedAt: now, leftOut: 0 })
    },

    http(event) {
      if (!logger.isLevelEnabled('debug')) return
      if (event.kind === 'refused') {
        logger.debug({ status: event.status }, 'refused')
        return
      }
      const { method, route, status, milliseconds, apiKeyId } = event
      const ms = Number(milliseconds.toFixed(3))
      logger.debug({ method, route, status, ms, api_key_id: apiKeyId }, 'answered')
    },

    async close(message) {
      if (!logger.isLevelEnabled('info')) return
      logger.info(message)
      // A write that is under way when the process ends is lost.
      const signal = AbortSignal.timeout(CLOSE_MS)
      await once(output, 'drain', { signal }).catch(() => {})
    },
  }
}

/**
 * Where output cannot be written, as on a full disk or into a pipe that nobody reads, lines wait for it, up to a
 * bound; the service goes on.
 */
function openOutput() {
  const output = pino.destination({ fd: 1, sync: false, maxLength: OUTPUT_WAITING_MAX })
  output.on('error', () => {})
  return output
}

function forPeople(output: DestinationStream): DestinationStream {
  const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l' })
  return { write: (line) => output.write(format(line)) }
}

function describe(fault: unknown): {
  name: string
  reason: string
  cause?: string
  stack?: string
} {
  if (!(fault instanceof Error)) return { name: 'unknown', reason: String(fault) }
  const { name, message: reason, cause, stack } = fault
  if (cause instanceof Error) return { name, reason, cause: cause.message }
  // Our own faults say all there is to say; anything else is a mistake in the program, and where it is helps.
  return name === 'Error' || name === 'TypeError' || name === 'RangeError'
    ? { name, reason, ...(stack === undefined ? {} : { stack }) }
    : { name, reason }
}
