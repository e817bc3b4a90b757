import { LIMITS, type Limits } from '../http/limits.ts'
import { listen } from '../http/listen.ts'
import type { HealthStore } from '../listing/health/health.ts'
import { type Checks, createOpsAnswer, refusal } from './answer.ts'
import { createMonitor, type MonitorLog, OK } from './monitor.ts'

/** The interval between two looks at the database. */
const LOOK_MS = 1_000

/** The operator's listener serves few clients, and holds up no shutdown. */
const OPS_LIMITS: Limits = { ...LIMITS, connectionsMax: 100, drainGraceMs: 0, drainMs: 500 }

export interface OpsOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Null without a usable database, for the reason in `problem`. */
  store: HealthStore | null
  problem?: Error | undefined
  log: MonitorLog
}

/** Health and metrics, on a listener of their own. */
export interface Ops {
  host: string
  port: number
  /** From now on `/readyz` says that the service is shutting down. The database is left alone. */
  drain(): void
  close(): Promise<void>
}

/** Listens for the operator's requests, and watches the store meanwhile. */
export async function listenForOps(options: OpsOptions): Promise<Ops> {
  const { host, port, store, problem, log } = options
  const monitor = store === null ? null : createMonitor(store, log)
  let isDraining = false

  function readChecks(): Checks {
    const missing = problem?.message ?? 'there is no database'
    return {
      schema: monitor?.schema() ?? missing,
      claims: monitor?.claims() ?? missing,
      shutdown: isDraining ? 'the service is shutting down' : OK,
    }
  }

  const answer = createOpsAnswer(readChecks)
  const listener = await listen(
    { answer, refuse: refusal, observe: () => {} },
    host,
    port,
    OPS_LIMITS,
  )
  void monitor?.look()
  const timer = setInterval(() => void monitor?.look(), LOOK_MS).unref()
  return {
    host: listener.host,
    port: listener.port,
    drain() {
      isDraining = true
      clearInterval(timer)
      monitor?.close()
    },
    close: listener.close,
  }
}
