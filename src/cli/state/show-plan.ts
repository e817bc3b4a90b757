import type { StateChange, StatePlan } from '../../listing/state/state-store.ts'
import { count } from '../../listing/text.ts'
import { say } from '../output.ts'
import type { Shell } from '../shell.ts'

/** The number of changes of each kind. */
export interface ChangeCounts {
  added: number
  changed: number
  removed: number
}

export function countChanges({ changes }: StatePlan): ChangeCounts {
  const of = (wanted: StateChange['action']) =>
    changes.filter(({ action }) => action === wanted).length
  return { added: of('add'), changed: of('change'), removed: of('remove') }
}

const SIGNS = { add: '+', change: '~', remove: '-' }

/** Prints what would change, by user and organization, and which keys stay revoked. */
export function sayPlan(shell: Shell, plan: StatePlan, place: string): void {
  const { added, changed, removed } = countChanges(plan)
  const lines = [
    `Plan for ${place}: ${count(added)} to add, ${count(changed)} to change, ` +
      `${count(removed)} to remove or revoke`,
  ]
  for (const [of, changes] of Map.groupBy(plan.changes, (change) => change.of)) {
    lines.push('', of)
    for (const { action, kind, text } of changes)
      lines.push(`  ${SIGNS[action]} ${kind}${text === '' ? '' : ` ${text}`}`)
  }
  if (plan.keptRevoked.length > 0) lines.push('', 'Revoked keys stay revoked:')
  for (const { of, text } of plan.keptRevoked) lines.push(`  ! ${of}: key ${text}`)
  say(shell, `${lines.join('\n')}\n`)
}

export function planJson(plan: StatePlan, isApplied: boolean): object {
  return {
    applied: isApplied,
    ...countChanges(plan),
    changes: plan.changes.map(({ action, kind, of, text }) => ({ action, kind, of, text })),
    kept_revoked: plan.keptRevoked,
  }
}
