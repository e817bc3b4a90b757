import { createEpisodes } from '../log/episodes.ts'
import { NotConfigured } from '../model/faults.ts'
import { type Finding, judgeSchema, ok, problem } from '../model/health/finding.ts'
import type { HealthStore, Measures } from '../model/health/health.ts'

/** How long the engine may take to decide a probe. */
const ANSWER_MS = 1_000
/** The interval between two reads of the schema, which rarely changes. */
const SCHEMA_MS = 15_000

/** The interval between two measurements of the database. */
const MEASURE_MS = 60_000

const NOT_YET = new Error('the database has not answered yet')

/** What the monitor writes to the service's log. */
export interface MonitorLog {
  info(message: string): void
  error(message: string): void
}

/** Watches the database of a serving store. */
export interface Monitor {
  /** Whether this program can work with the schema, and whether claims are decided. */
  findings(): Finding[]
  /** The last measurement. Null before the first one. */
  measures(): Measures | null
  /** Probes the claims. Reads and measures what is due. Joins what is still under way. */
  look(): Promise<void>
  /** Logs nothing more: the end of the service is not an outage. */
  close(): void
}

/** Logs one line when the database is lost and one when it is back. `now` is in milliseconds. */
export function createMonitor(
  store: Pick<HealthStore, 'probeClaims' | 'checkSchema' | 'measure'>,
  log: MonitorLog,
  now: () => number = () => performance.now(),
): Monitor {
  let schema = judgeSchema(NOT_YET)
  let claims = judgeClaims(NOT_YET)
  let askedAt: number | null = null
  let schemaDueAt = Number.NEGATIVE_INFINITY
  let measures: Measures | null = null
  let measureDueAt = Number.NEGATIVE_INFINITY
  let isClosed = false
  const outage = createEpisodes((fault: Error) => {
    const status = fault instanceof NotConfigured ? 503 : 502
    log.error(`the database is lost, so every key gets ${status}: ${withCause(fault)}`)
  }, now)

  const probe = oneAtATime(async () => {
    askedAt = now()
    try {
      await store.probeClaims()
      claims = judgeClaims(null)
      const lasted = outage.end()
      if (lasted !== null) log.info(`the database is back after ${seconds(lasted)}`)
    } catch (fault) {
      claims = judgeClaims(fault as Error)
      if (!isClosed) outage.meet(() => fault as Error)
    }
    askedAt = null
  })

  const readSchema = oneAtATime(async () => {
    if (now() < schemaDueAt) return
    try {
      await store.checkSchema()
      schema = judgeSchema(null)
      schemaDueAt = now() + SCHEMA_MS
    } catch (fault) {
      schema = judgeSchema(fault as Error)
    }
  })

  const measure = oneAtATime(async () => {
    if (now() < measureDueAt) return
    measureDueAt = now() + MEASURE_MS
    // Without an answer the last measurement stays. The probe tells why there is none.
    measures = await store.measure().catch(() => measures)
  })

  return {
    findings() {
      const waited = askedAt === null ? 0 : now() - askedAt
      const hangs = `the database has not answered for ${seconds(waited)}`
      return [schema, waited > ANSWER_MS ? judgeClaims(new Error(hangs)) : claims]
    },

    measures: () => measures,

    async look() {
      await Promise.all([probe(), readSchema(), measure()])
    },

    close() {
      isClosed = true
    },
  }
}

/** `fault` is what keeps the engine from deciding claims. Null if nothing does. */
export function judgeClaims(fault: Error | null): Finding {
  if (fault === null) return ok('claims', 'the engine decides claims')
  return problem('claims', fault.message, 'docs/monitoring.md says what each check asks')
}

function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  return () => {
    underWay ??= work().finally(() => {
      underWay = null
    })
    return underWay
  }
}

/** Our own faults name the failed operation. The driver's error below says why. */
function withCause({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
