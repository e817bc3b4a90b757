import { byKey } from './check/check.ts'
import { claimsBeside } from './check/gaps.ts'
import { wouldBeBelieved } from './check/refusals.ts'
import { failureOf, incidentsMet } from './record/incidents.ts'
import type { Run } from './nemesis.ts'
import type { History, Incident, Operation } from './record/record.ts'

/*
 * A run without a violation proves something only above these floors. The service must have
 * worked, each fault must have happened, and the checker must have been able to see a violation.
 */

const CLAIMS_MIN = 40
const REFUSALS_MIN = 100
/** Keys that clients keep using beside a lasting fault. */
const KEYS_BESIDE_MIN = 3
/** Largest share of the undisturbed 200s at which the checker would have believed a 429. */
const BELIEVED_MAX = 0.5
/** 200s that met no fault. */
const UNDISTURBED_CLAIMS_MIN = 10
/** Requests that met no fault. The checker believes no 502 there. */
const UNDISTURBED_MIN = 100
/** Largest share of requests that may fail because of faults. */
const FAILED_MAX = 0.95

/** Returns a sentence for each floor that the run has missed. */
export function floorsMissed({ history, faults }: Run): string[] {
  const count = (status: number) =>
    history.operations.filter((one) => one.operation === 'get' && one.status === status).length
  const { requests, claims, believed, disturbed, failed } = sharesOf(history)
  const undisturbed = requests - disturbed
  // A lasting fault that touches every key fails nearly all requests of its run.
  const isOneFault = history.incidents?.some(({ stays }) => stays) ?? false
  const beside = servedBeside(history)
  return [
    ...(count(200) >= CLAIMS_MIN
      ? []
      : [`only ${count(200)} 200s; at least ${CLAIMS_MIN} are needed`]),
    ...(count(429) >= REFUSALS_MIN
      ? []
      : [`only ${count(429)} 429s; at least ${REFUSALS_MIN} are needed`]),
    ...(history.stamps === null || history.stamps.length < CLAIMS_MIN
      ? ["the store's own record is missing"]
      : []),
    ...[...faults].flatMap(([name, times]) => (times > 0 ? [] : [`never happened: ${name}`])),
    ...(beside === null || beside.keys >= KEYS_BESIDE_MIN
      ? []
      : [`only ${beside.keys} keys went on beside the fault; ${KEYS_BESIDE_MIN} are needed`]),
    ...(claims >= UNDISTURBED_CLAIMS_MIN
      ? []
      : [`only ${claims} 200s met no fault; at least ${UNDISTURBED_CLAIMS_MIN} are needed`]),
    ...(believed <= BELIEVED_MAX * claims
      ? []
      : [`a 429 would have been believed at ${believed} of ${claims} 200s`]),
    ...(undisturbed >= UNDISTURBED_MIN
      ? []
      : [`a 502 would be an alarm at only ${undisturbed} of ${requests} requests`]),
    ...(isOneFault || failed <= FAILED_MAX * requests
      ? []
      : [`${failed} of ${requests} requests failed, more than ${100 * FAILED_MAX} %`]),
  ]
}

/**
 * Counts the keys that a lasting fault left alone, and returns the longest gap between two granted
 * claims of one of them. Null if no fault was meant to last.
 */
export function servedBeside(history: History): { keys: number; longest: number } | null {
  const staying = history.incidents?.filter(({ stays }) => stays) ?? []
  if (staying.every(touchesAll)) return null
  const span = Math.min(...staying.map(({ t0, t1 }) => t1 - t0))
  const throughout = byKey(history)
    .map(claimsBeside)
    .filter(({ claims }) => claims * CLAIM_SPAN_MAX > span)
  return {
    keys: throughout.length,
    longest: Math.max(0, ...throughout.map(({ longest }) => longest)),
  }
}

function touchesAll({ failures, key, owner, process }: Incident): boolean {
  return failures.length > 0 && key === '' && owner === '' && process === 0
}

/**
 * Largest average time between two granted claims of a key that clients keep using, in
 * microseconds.
 */
const CLAIM_SPAN_MAX = 1_500_000

export interface Shares {
  requests: number
  /** Requests that met a fault which explains a 502 or a missing answer. */
  disturbed: number
  /** Requests that got a 502 or no answer. */
  failed: number
  /** 200s that met no such fault, and how many of them the checker would have believed as a 429. */
  claims: number
  believed: number
}

export function sharesOf(history: History): Shares {
  const keys = byKey(history)
  const gets = keys.flatMap((key) => key.gets)
  const causing = history.incidents?.filter(({ failures }) => failures.length > 0) ?? []
  const isDisturbed = (get: Operation) => incidentsMet(causing, get).length > 0
  const granted = keys.flatMap((key) =>
    key.gets
      .filter((get) => get.status === 200 && !isDisturbed(get))
      .map((get) => wouldBeBelieved(key, get)),
  )
  return {
    requests: gets.length,
    disturbed: gets.filter(isDisturbed).length,
    failed: gets.filter((get) => failureOf(get) !== null).length,
    claims: granted.length,
    believed: granted.filter(Boolean).length,
  }
}
