import { pino } from 'pino'
import type { LogLevel } from '../config/config.ts'
import type { HttpEvent } from '../http/message.ts'
import { openOutput } from './output.ts'
import { withSources } from './stack-trace.ts'
import { terminalLines } from './terminal-lines.ts'

/**
 * The service's log: events and faults, and at `debug` every request. A line has only the fields
 * named here, so it never contains a header, a target or a key.
 */
export interface Log {
  info(message: string): void
  /** Something works, but not as the operator may expect. */
  warn(message: string): void
  /** The operator has to act. */
  error(message: string): void
  /**
   * Logs the fault behind an answer, at most one line per second per kind. The next line counts the
   * omitted ones. A fault that arrives again as the same object is known, and gets no second line.
   * One with `isWarning` is logged as a warning.
   *
   * Returns an id for the request that failed: the `fault_id` of the line, a hyphen and a number.
   * Requests that share a line differ in the number.
   */
  fault(fault: unknown): string | undefined
  http(event: HttpEvent): void
  /** Writes a last line. Resolves when all lines are written, or when the output takes none. */
  close(message: string): Promise<void>
}

const FAULT_INTERVAL_MS = 1_000

/** A log on standard output: JSON lines, or readable lines on a terminal. */
export function createLog(level: LogLevel): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const output = openOutput()
  const shown = (line: string) => output.write(terminalLines(line))
  const logger = pino(options, process.stdout.isTTY ? { write: shown } : output)
  const faults = new Map<string, FaultLine>()
  const lines = new WeakMap<Error, FaultLine>()

  return {
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error: (message) => logger.error(message),

    fault(fault) {
      const known = fault instanceof Error ? lines.get(fault) : undefined
      if (known !== undefined) return nextIdOf(known)
      const { name, ...fields } = describe(fault)
      const now = performance.now()
      const before = faults.get(name)
      if (before !== undefined && now - before.loggedAt < FAULT_INTERVAL_MS) {
        before.leftOut += 1
        return nextIdOf(before)
      }
      const leftOut = before !== undefined && before.leftOut > 0 ? { left_out: before.leftOut } : {}
      const line: FaultLine = { id: newFaultId(), loggedAt: now, leftOut: 0, requests: 0 }
      const level = fault instanceof Error && 'isWarning' in fault ? 'warn' : 'error'
      logger[level]({ fault: name, fault_id: line.id, ...fields, ...leftOut }, 'fault')
      faults.set(name, line)
      if (fault instanceof Error) lines.set(fault, line)
      return nextIdOf(line)
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
      await output.flush()
    },
  }
}

/** The last line that the log has about a kind of fault. */
interface FaultLine {
  id: string
  loggedAt: number
  leftOut: number
  /** The requests that have an id of this line. */
  requests: number
}

function newFaultId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('hex')
}

function nextIdOf(line: FaultLine): string {
  line.requests += 1
  return `${line.id}-${line.requests}`
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
  // Our own faults explain themselves. Any other error is a bug, and its stack helps to find it.
  return name === 'Error' || name === 'TypeError' || name === 'RangeError'
    ? { name, reason, ...(stack === undefined ? {} : { stack: withSources(stack) }) }
    : { name, reason }
}
