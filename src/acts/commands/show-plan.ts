import { count } from '../../model/text.ts'
import { say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import type { PartPlan } from '../records/file-parts.ts'
import type { ToldChange } from '../records/told.ts'

/** The number of changes of each kind. */
export function countChanges(plans: readonly PartPlan[]) {
  const counts = { add: 0, change: 0, remove: 0 }
  for (const { changes } of plans) for (const { action } of changes) counts[action] += 1
  return { added: counts.add, changed: counts.change, removed: counts.remove }
}

/** The same for people, without a full stop. */
export function sayChanges(plans: readonly PartPlan[]): string {
  const { added, changed, removed } = countChanges(plans)
  return `${count(added)} added, ${count(changed)} changed, ${count(removed)} removed or revoked`
}

const SIGNS: Record<ToldChange['action'], string> = { add: '+', change: '~', remove: '-' }

/** Prints what would change, by user and organization, and which keys stay revoked. */
export function sayPlan(shell: Shell, plans: readonly PartPlan[], place: string): void {
  const { added, changed, removed } = countChanges(plans)
  const lines = [
    `Plan for ${place}: ${count(added)} to add, ${count(changed)} to change, ` +
      `${count(removed)} to remove or revoke`,
  ]
  let last = null
  for (const { changes } of plans)
    for (const { of, action, kind, text } of changes) {
      if (of !== last) lines.push('', of)
      last = of
      lines.push(`  ${SIGNS[action]} ${kind}${text === '' ? '' : ` ${text}`}`)
    }
  const kept = keptRevoked(plans)
  if (kept.length > 0) lines.push('', 'Revoked keys stay revoked:')
  for (const { of, text } of kept) lines.push(`  ! ${of}: key ${text}`)
  say(shell, `${lines.join('\n')}\n`)
}

/** Active keys of the file that stay revoked. */
export const keptRevoked = (plans: readonly PartPlan[]): { of: string; text: string }[] =>
  plans.flatMap((plan) => plan.keptRevoked)

export function planJson(plans: readonly PartPlan[], isApplied: boolean): object {
  return {
    applied: isApplied,
    ...countChanges(plans),
    changes: plans.flatMap(({ changes }) => changes),
    kept_revoked: keptRevoked(plans),
  }
}
