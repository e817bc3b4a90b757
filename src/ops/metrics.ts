import type { Finding } from '../model/health/finding.ts'
import type { Measures, StoreCounts } from '../model/health/health.ts'
import type { Histogram } from '../model/health/histogram.ts'
import { type Family, histogramSamples } from './exposition.ts'
import type { RequestMeter } from './request-meter.ts'

const MS_PER_SECOND = 1_000
const US_PER_SECOND = 1_000_000

/** What the metrics show. */
export interface Sources {
  build: { version: string; engine: string; node: string }
  /** When the process started, in seconds since 1970. */
  startedAt: number
  requests: Pick<RequestMeter, 'answers' | 'durations'>
  loopDelays: Histogram
  /** What decides readiness. */
  findings: readonly Finding[]
  /** Null without a usable database. */
  counts: StoreCounts | null
  /** Null as long as nothing has been measured. */
  measures: Measures | null
}

/** All metrics. Labels come from fixed sets, so that no client can add a series. */
export function metricFamilies(sources: Sources): Family[] {
  return [
    ...requestFamilies(sources),
    ...claimFamilies(sources),
    ...databaseFamilies(sources),
    ...processFamilies(sources),
  ]
}

function requestFamilies({ requests, findings }: Sources): Family[] {
  return [
    counter(
      'server_listing_requests_total',
      'Answers of the API, by route and status.',
      requests.answers().map(({ route, status, count }) => {
        return { labels: { route, status: String(status) }, value: count }
      }),
    ),
    histogram(
      'server_listing_request_duration_seconds',
      'Time from the head of a request to its answer, by route.',
      [...requests.durations].flatMap(([route, durations]) =>
        histogramSamples(durations, MS_PER_SECOND, { route }),
      ),
    ),
    gauge('server_listing_ready', 'Whether /readyz answers 200.', [
      { value: Number(findings.every(({ state }) => state === 'ok')) },
    ]),
    gauge(
      'server_listing_check_ok',
      'Whether a check of /readyz is ok.',
      findings.map(({ check, state }) => ({ labels: { check }, value: Number(state === 'ok') })),
    ),
  ]
}

function claimFamilies({ counts }: Sources): Family[] {
  if (counts === null) return []
  const { claims, pools } = counts
  return [
    histogram(
      'server_listing_batch_size',
      'Claims that were decided together.',
      histogramSamples(claims.batchSizes, 1),
    ),
    histogram(
      'server_listing_batch_wait_seconds',
      'Time that the first claim of a batch waited.',
      histogramSamples(claims.waits, MS_PER_SECOND),
    ),
    counter('server_listing_shed_requests_total', 'Requests that waited too long for a batch.', [
      { value: claims.shed() },
    ]),
    gauge(
      'server_listing_pool_connections',
      'Open connections to the database, by pool and state.',
      Object.entries(pools).flatMap(([pool, { busy, idle }]) => [
        { labels: { pool, state: 'busy' }, value: busy },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ),
    gauge(
      'server_listing_pool_waiting',
      'Callers that wait for a connection, by pool.',
      Object.entries(pools).map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
    ),
  ]
}

function databaseFamilies({ measures }: Sources): Family[] {
  if (measures === null) return []
  const { databaseBytes, logBytes, diskFreeBytes, lastBackupAt } = measures
  return [
    gauge('server_listing_database_bytes', 'Size of the database.', [{ value: databaseBytes }]),
    gauge(
      'server_listing_database_log_bytes',
      'Size of the write-ahead log. SQLite only.',
      logBytes === null ? [] : [{ value: logBytes }],
    ),
    gauge(
      'server_listing_disk_free_bytes',
      'Free space of the disk with the database. SQLite only.',
      diskFreeBytes === null ? [] : [{ value: diskFreeBytes }],
    ),
    gauge(
      'server_listing_last_backup_timestamp_seconds',
      'When the last backup was made, in seconds since 1970. 0 if there was none.',
      [{ value: (lastBackupAt ?? 0) / US_PER_SECOND }],
    ),
  ]
}

function processFamilies({ build, startedAt, loopDelays }: Sources): Family[] {
  const { user, system } = process.cpuUsage()
  return [
    histogram(
      'server_listing_event_loop_delay_seconds',
      'How late a timer of 50 ms was.',
      histogramSamples(loopDelays, MS_PER_SECOND),
    ),
    gauge('server_listing_build_info', 'Always 1. The labels tell what runs.', [
      { labels: build, value: 1 },
    ]),
    counter('process_cpu_seconds_total', 'CPU time of the process.', [
      { value: (user + system) / US_PER_SECOND },
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', [
      { value: process.memoryUsage.rss() },
    ]),
    gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', [
      { value: startedAt },
    ]),
  ]
}

function histogram(name: string, help: string, samples: Family['samples']): Family {
  return { name, type: 'histogram', help, samples }
}

function counter(name: string, help: string, samples: Family['samples']): Family {
  return { name, type: 'counter', help, samples }
}

function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, type: 'gauge', help, samples }
}
