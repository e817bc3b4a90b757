import { LIMITS, type Limits } from '../http/limits.ts'
import { listen } from '../http/listen.ts'
import { createOwnHosts } from '../http/admission/own-hosts.ts'
import { type Finding, judgeSchema, ok, problem } from '../model/health/finding.ts'
import type { HealthStore } from '../model/health/health.ts'
import { createOpsAnswer, refusal } from './answer.ts'
import { watchEventLoop } from './event-loop.ts'
import { renderMetrics } from './exposition.ts'
import { metricFamilies } from './metrics.ts'
import { createMonitor, judgeClaims, type Monitor, type MonitorLog } from './monitor.ts'
import type { RequestMeter } from './request-meter.ts'

/** The interval between two looks at the database. */
const LOOK_MS = 1_000

/**
 * The operator's listener serves few clients, and holds up no shutdown. An orchestrator restarts a
 * process whose probe gets no connection, so a probe takes the place of an older connection.
 */
const OPS_LIMITS: Limits = {
  ...LIMITS,
  connectionsMax: 100,
  closedBeyond: 'oldest',
  drainGraceMs: 0,
  drainMs: 500,
}

export interface OpsOptions {
  host: string
  /** 0 picks a free port. */
  port: number
  /** Null without a usable database, for the reason in `problem`. */
  store: HealthStore | null
  problem?: Error | undefined
  /** Counts the requests of the API. */
  requests: RequestMeter
  build: { version: string; engine: string }
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
  const { host, port, store, log } = options
  const monitor = store === null ? null : createMonitor(store, log)
  const loop = watchEventLoop()
  let isDraining = false

  const readFindings = () => findingsOf(options, monitor, isDraining)
  const hosts = createOwnHosts([host])
  const answer = createOpsAnswer({
    isOwnHost: hosts.has,
    readFindings,
    renderMetrics: () =>
      renderMetrics(
        metricFamilies({
          build: { ...options.build, node: process.version },
          startedAt: performance.timeOrigin / 1_000,
          requests: options.requests,
          loopDelays: loop.delays,
          findings: readFindings(),
          counts: store?.readCounts() ?? null,
          measures: monitor?.measures() ?? null,
        }),
      ),
  })
  const application = { answer, refuse: refusal, observe: () => {} }
  const listener = await listen(application, host, port, OPS_LIMITS)
  hosts.listenOn(listener.host)
  void monitor?.look()
  const timer = setInterval(() => void monitor?.look(), LOOK_MS).unref()
  const stopWatching = () => {
    clearInterval(timer)
    loop.close()
    monitor?.close()
  }
  return {
    host: listener.host,
    port: listener.port,

    drain() {
      isDraining = true
      stopWatching()
    },

    async close() {
      stopWatching()
      await listener.close()
    },
  }
}

/** What decides readiness. */
function findingsOf(
  { problem: missing = new Error('there is no database') }: OpsOptions,
  monitor: Monitor | null,
  isDraining: boolean,
): Finding[] {
  return [
    ...(monitor?.findings() ?? [judgeSchema(missing), judgeClaims(missing)]),
    isDraining
      ? problem('shutdown', 'the service is shutting down', 'wait for its end')
      : ok('shutdown', 'the service accepts requests'),
  ]
}
