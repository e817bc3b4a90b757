import { createEpisodes } from '../log/episodes.ts'
import { NotConfigured } from '../model/faults.ts'
import type { HealthStore, Measures } from '../model/health/health.ts'

/** How long the engine may take to decide a probe. */
const ANSWER_MS = 1_000
/** The interval between two reads of the schema, which rarely changes. */
const SCHEMA_MS = 15_000

/** The interval between two measurements of the database. */
const MEASURE_MS = 60_000

/** `ok`, or what is wrong as a sentence for the operator. */
export type Check = string
export const OK: Check = 'ok'
const NOT_YET: Check = 'the database has not answered yet'

/** What the monitor writes to the service's log. */
export interface MonitorLog {
  info(message: string): void
  error(message: string): void
}

/** Watches the database of a serving store. */
export interface Monitor {
  /** By the last probe: whether claims are decided. */
  claims(): Check
  /** By the last look: whether this program can work with the schema. */
  schema(): Check
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
  let claims: Check = NOT_YET
  let schema: Check = NOT_YET
  let askedAt: number | null = null
  let schemaDueAt = Number.NEGATIVE_INFINITY
  let measures: Measures | null = null
  let measureDueAt = Number.NEGATIVE_INFINITY
  let isClosed = false
  const outage = createEpisodes((fault: unknown) => {
    const status = fault instanceof NotConfigured ? 503 : 502
    log.error(`the database is lost, so every key gets ${status}: ${withCause(fault)}`)
  }, now)

  const probe = oneAtATime(async () => {
    askedAt = now()
    try {
      await store.probeClaims()
      claims = OK
      const lasted = outage.end()
      if (lasted !== null) log.info(`the database is back after ${seconds(lasted)}`)
    } catch (fault) {
      claims = sentenceOf(fault)
      if (!isClosed) outage.meet(() => fault)
    }
    askedAt = null
  })

  const readSchema = oneAtATime(async () => {
    if (now() < schemaDueAt) return
    try {
      await store.checkSchema()
      schema = OK
      schemaDueAt = now() + SCHEMA_MS
    } catch (fault) {
      schema = sentenceOf(fault)
    }
  })

  const measure = oneAtATime(async () => {
    if (now() < measureDueAt) return
    measureDueAt = now() + MEASURE_MS
    // Without an answer the last measurement stays. The probe tells why there is none.
    measures = await store.measure().catch(() => measures)
  })

  return {
    claims() {
      const waited = askedAt === null ? 0 : now() - askedAt
      return waited > ANSWER_MS ? `the database has not answered for ${seconds(waited)}` : claims
    },

    schema: () => schema,
    measures: () => measures,

    async look() {
      await Promise.all([probe(), readSchema(), measure()])
    },

    close() {
      isClosed = true
    },
  }
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

function sentenceOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}

/** Our own faults name the failed operation. The driver's error below says why. */
function withCause(fault: unknown): string {
  const cause = fault instanceof Error ? fault.cause : undefined
  return cause instanceof Error ? `${sentenceOf(fault)} (${cause.message})` : sentenceOf(fault)
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
