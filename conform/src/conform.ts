import type { Check } from './checks/check.ts'
import { CREDENTIALS } from './checks/credentials.ts'
import { LIMIT } from './checks/limit.ts'
import { LISTING } from './checks/listing.ts'
import { ODD_BYTES } from './checks/odd-bytes.ts'
import { PATHS } from './checks/paths.ts'
import { RevokeCommandFailed, revocationBy } from './checks/revocation.ts'
import { judgeWholeRun } from './checks/whole-run.ts'
import { createJudge, type Finding } from './judge.ts'
import { createKit } from './kit.ts'
import { createMask, shownPart } from './mask.ts'
import { ownPace, politePace, REQUESTS_PER_SECOND, WINDOW_MS } from './pace.ts'
import { RULES, type RuleName } from './rules.ts'
import { connect } from './wire/connection.ts'
import type { Target } from './wire/target.ts'

/** What a run needs. */
export interface Order {
  target: Target
  key: string
  second: string | null
  /** A shell command that revokes `key`. */
  revokeCommand: string | null
  /** True if the host belongs to the caller, so that it may get more than two requests a second. */
  isMine: boolean
}

/** What a run will send. */
export interface Plan {
  requests: number
  seconds: number
  /** The beginning of the key. */
  key: string
  isPolite: boolean
}

export interface Report {
  url: string
  key: string
  /** The rules that were checked, in the order of the specification. */
  rules: { rule: RuleName; checks: number; findings: Finding[] }[]
  /** The rules that were not checked, each with the reason. */
  unchecked: { rule: RuleName; reason: string }[]
  requests: number
  seconds: number
  /** Why the command that revokes the key failed, or null. */
  failure: string | null
}

/** The requests at the same moment, on a host of one's own. */
const BURST = 16

function isPolite({ target, isMine }: Order): boolean {
  return !isMine && !target.isLocal
}

function checksOf({ revokeCommand }: Order): Check[] {
  const revocation = revokeCommand === null ? [] : [revocationBy(revokeCommand)]
  return [LISTING, PATHS, CREDENTIALS, ODD_BYTES, LIMIT, ...revocation]
}

function burstOf(order: Order): number {
  return isPolite(order) ? REQUESTS_PER_SECOND : BURST
}

/** Hears how far a run is. */
export interface Progress {
  /** The host has been reached. */
  begin(plan: Plan): void
  /** A group of checks begins. */
  check(name: string): void
}

const SILENT: Progress = { begin() {}, check() {} }

/** How many requests a run sends if nothing has to be repeated, and about how long it takes. */
export function planOf(order: Order): Plan {
  const checks = checksOf(order)
  const requests =
    checks.reduce((sum, check) => sum + check.requests(burstOf(order)), 0) +
    (order.second === null ? 0 : 1)
  const grants = checks.reduce((sum, check) => sum + check.grants, 0)
  const paced = (requests / REQUESTS_PER_SECOND) * (WINDOW_MS / 1_000)
  return {
    requests,
    seconds: Math.ceil(isPolite(order) ? paced + grants / 2 : 1.05 * grants),
    key: `${shownPart(order.key)}…`,
    isPolite: isPolite(order),
  }
}

/**
 * Checks a deployment of the API from outside (spec 4 to 8). Rejects with the system's error if the
 * host can't be reached.
 */
export async function conform(order: Order, progress: Progress = SILENT): Promise<Report> {
  const { target, key, second } = order
  const reached = await connect(target)
  reached.close()
  progress.begin(planOf(order))
  const mask = createMask(second === null ? [key] : [key, second])
  const judge = createJudge(mask)
  const kit = createKit(
    {
      target,
      key: { text: key, claims: [] },
      second: second === null ? null : { text: second, claims: [] },
      judge,
      burst: burstOf(order),
    },
    isPolite(order) ? politePace() : ownPace,
  )
  const begun = performance.now()
  let failure: string | null = null
  for (const check of checksOf(order)) {
    const isGranted = kit.key.claims.some(({ answer }) => answer?.status === 200)
    if (check.needsGrants && !isGranted) continue
    progress.check(check.name)
    try {
      await check.run(kit)
    } catch (error) {
      if (!(error instanceof RevokeCommandFailed)) throw error
      failure = mask(error.message)
    }
  }
  judgeWholeRun(kit)

  const names = Object.keys(RULES) as RuleName[]
  return {
    url: target.url,
    key: `${shownPart(key)}…`,
    rules: names.flatMap((rule) => {
      const result = judge.results.get(rule)
      return result === undefined ? [] : [{ rule, ...result }]
    }),
    unchecked: names.flatMap((rule) =>
      judge.results.has(rule) ? [] : [{ rule, reason: reasonFor(rule, order, failure) }],
    ),
    requests: kit.sent(),
    seconds: (performance.now() - begun) / 1_000,
    failure,
  }
}

/** Why a rule was not checked. */
function reasonFor(rule: RuleName, order: Order, failure: string | null): string {
  if (rule === 'own-limits' && order.second === null) return 'it needs --second-key-file'
  if (rule === 'revoked')
    return order.revokeCommand === null
      ? 'it needs --revoke-command'
      : `the command failed: ${failure}`
  if (/^(server-|field-order)/.test(rule)) return 'it needs a key whose owner has servers'
  return 'an earlier finding or a pause of this machine is in the way'
}

/** The findings of a run: contradictions to the specification. */
export function findingsOf({ rules }: Report): Finding[] {
  return rules.flatMap(({ rule, findings }) => (RULES[rule].isChoice ? [] : findings))
}

/** Differences from this project's choices, where the specification is silent. */
export function notesOf({ rules }: Report): Finding[] {
  return rules.flatMap(({ rule, findings }) => (RULES[rule].isChoice ? findings : []))
}
