import { touches } from '../record/incidents.ts'
import type { Incident, Operation } from '../record/record.ts'
import { type OneKey, SECOND, type Violation, violation } from '../record/violation.ts'

/** Time beyond its second that a key may wait for its next granted claim beside a lasting fault. */
const WAIT_MAX = 500_000

/**
 * I12: beside a lasting fault, each key that the fault does not touch gets a 200 at least every 1.5
 * seconds.
 */
export function checkGaps(key: OneKey): Violation[] {
  const staying = key.incidents?.filter(({ stays }) => stays) ?? []
  return staying.flatMap((incident) =>
    gapsBeside(key, incident).flatMap(({ from, to }) => {
      const ready = from + SECOND
      const unserved = key.gets.find(
        (get) => !isTouched(incident, get) && get.t0 >= ready && get.t0 + WAIT_MAX < to,
      )
      if (unserved === undefined || isExplained(key, incident, from, to)) return []
      const words = `requests with ${key.name} got no 200 for ${to - from} µs beside ${incident.fault}`
      return [violation('I12', words, [unserved], to)]
    }),
  )
}

/**
 * Counts the granted claims of a key beside lasting faults, and returns the longest gap that those
 * faults don't explain.
 */
export function claimsBeside(key: OneKey): { claims: number; longest: number } {
  const staying = key.incidents?.filter(({ stays }) => stays) ?? []
  let claims = 0
  let longest = 0
  for (const incident of staying) {
    const gaps = gapsBeside(key, incident)
    const met = key.gets.filter((get) => isTouched(incident, get))
    claims += Math.max(0, gaps.length - 1)
    for (const { from, to } of gaps)
      if (!met.some(({ t0, t1 }) => t0 < to && t1 > from)) longest = Math.max(longest, to - from)
  }
  return { claims, longest }
}

interface Gap {
  from: number
  to: number
}

/**
 * Returns the gaps between granted claims from the beginning of the fault to its end. None if the
 * fault touches the key.
 */
function gapsBeside({ gets, revokes }: OneKey, incident: Incident): Gap[] {
  if (gets.every((get) => isTouched(incident, get))) return []
  const claims = gets
    .filter(({ status, t1 }) => status === 200 && t1 > incident.t0 && t1 < incident.t1)
    .map(({ t1 }) => t1)
    .toSorted((a, b) => a - b)
  const issued = gets[0]!.t0
  const revoked = Math.min(...revokes.map(({ t0 }) => t0))
  const [begin, end] = [Math.max(incident.t0, issued), Math.min(incident.t1, revoked)]
  const bounds = [begin, ...claims.filter((at) => at > begin && at < end), end]
  return bounds.slice(1).map((to, index) => ({ from: bounds[index]!, to }))
}

/** A fault that makes no request fail touches no key. */
function isTouched(incident: Incident, get: Operation): boolean {
  return incident.failures.length > 0 && touches(incident, get)
}

function isExplained({ incidents }: OneKey, staying: Incident, from: number, to: number): boolean {
  return incidents!.some(
    (other) =>
      other !== staying &&
      other.failures.length > 0 &&
      other.t0 < to &&
      other.t1 + other.aftermath > from,
  )
}
