import type { RecordPlan, StateChange } from '../state-store.ts'
import { count } from '../../model/text.ts'
import { say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'

/** The number of changes of each kind. */
export function countChanges(plans: readonly RecordPlan[]) {
  const counts = { add: 0, change: 0, remove: 0 }
  for (const { changes } of plans) for (const { action } of changes) counts[action] += 1
  return { added: counts.add, changed: counts.change, removed: counts.remove }
}

/** The same for people, without a full stop. */
export function sayChanges(plans: readonly RecordPlan[]): string {
  const { added, changed, removed } = countChanges(plans)
  return `${count(added)} added, ${count(changed)} changed, ${count(removed)} removed or revoked`
}

const SIGNS: Record<StateChange['action'], string> = { add: '+', change: '~', remove: '-' }

/** Prints what would change, by user and organization, and which keys stay revoked. */
export function sayPlan(shell: Shell, plans: readonly RecordPlan[], place: string): void {
  const { added, changed, removed } = countChanges(plans)
  const lines = [
    `Plan for ${place}: ${count(added)} to add, ${count(changed)} to change, ` +
      `${count(removed)} to remove or revoke`,
  ]
  for (const { of, changes } of plans) {
    if (changes.length > 0) lines.push('', of)
    for (const { action, kind, text } of changes)
      lines.push(`  ${SIGNS[action]} ${kind}${text === '' ? '' : ` ${text}`}`)
  }
  const kept = keptRevoked(plans)
  if (kept.length > 0) lines.push('', 'Revoked keys stay revoked:')
  for (const { of, text } of kept) lines.push(`  ! ${of}: key ${text}`)
  say(shell, `${lines.join('\n')}\n`)
}

/** Active keys of the file that stay revoked. */
export const keptRevoked = (plans: readonly RecordPlan[]): { of: string; text: string }[] =>
  plans.flatMap((plan) => plan.keptRevoked.map((text) => ({ of: plan.of, text })))

export function planJson(plans: readonly RecordPlan[], isApplied: boolean): object {
  return {
    applied: isApplied,
    ...countChanges(plans),
    changes: plans.flatMap(({ changes }) =>
      changes.map(({ action, kind, of, text }) => ({ action, kind, of, text })),
    ),
    kept_revoked: keptRevoked(plans),
  }
}
