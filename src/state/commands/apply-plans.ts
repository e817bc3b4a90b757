import { setTimeout as delay } from 'node:timers/promises'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { presentInstant, type Instant } from '../../model/instant.ts'
import { isOrganization } from '../declared-state.ts'
import type { RecordPlan, StateOptions } from '../state-store.ts'
import type { Store } from '../../database/store.ts'
import { count } from '../../model/text.ts'
import { inBatches } from '../../database/batches.ts'
import { Failure } from '../../terminal/errors.ts'
import { createProgress } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import type { Note } from '../../accounts/records/audit.ts'
import { takeRows } from './plan-file.ts'
import { sayChanges } from './show-plan.ts'
import { states } from '../records/states.ts'

/**
 * Makes the confirmed changes, many records in each transaction. Stops at the first transaction
 * that fails; what is done stays done. The audit log has an entry for each change, and a last one
 * with this action that counts them.
 */
export async function applyPlans(
  shell: Shell,
  store: Store,
  plans: readonly RecordPlan[],
  given: StateOptions,
  action: 'state applied' | 'keys imported',
): Promise<void> {
  const needed = plans.filter(({ changes }) => changes.length > 0)
  const options = { ...given, now: presentInstant() }
  await outlastLastUses(needed, options.now)
  const progress = createProgress(shell)
  const units = unitsOf(needed)
  let done = 0
  await inBatches(async (rowsMax) => {
    const { items: batch, rows } = takeRows(units, rowsMax)
    if (batch.length === 0) return 0
    const isLast = done + batch.length === needed.length
    const end: Parameters<Note> | undefined = isLast
      ? [action, null, sayChanges(needed)]
      : undefined
    const outdated = await states(store.database)
      .applyState(batch, options, end)
      .catch((error: Error) => error.message)
    if (outdated !== null) {
      progress.clear()
      const failed =
        typeof outdated === 'string'
          ? `${unchanged(batch)}: ${outdated}`
          : `${unchanged([outdated])}: another program has changed it since the plan was made`
      throw new Failure(
        `${failed}. Done before that: ${count(done)} of ${count(needed.length)} users and ` +
          'organizations. Run the same command again to finish',
      )
    }
    done += batch.length
    progress.show(`applied ${count(done)} of ${count(needed.length)} users and organizations`)
    return rows
  }, store.isServed)
  progress.clear()
}

function unchanged(batch: readonly RecordPlan[]): string {
  const [first, last] = [batch[0]!.of, batch.at(-1)!.of]
  return batch.length === 1
    ? `${first} was not changed`
    : `${count(batch.length)} users and organizations, from ${first} to ${last}, were not changed`
}

/**
 * What belongs into one transaction, so that no organization is without an owner in between: before
 * or with a user come the new organizations of that user, and an owner of each.
 */
export function* unitsOf(plans: readonly RecordPlan[]): Generator<RecordPlan[], void> {
  const organizations = new Map<string, RecordPlan>()
  const owners = new Map<string, RecordPlan>()
  for (const plan of plans)
    for (const { slug, role } of plan.memberships) {
      if (plan.userId === null) organizations.set(slug, plan)
      else if (role === 'owner' && !owners.has(slug)) owners.set(slug, plan)
    }
  const left = new Set(plans)
  for (const first of plans) {
    const unit = left.delete(first) ? [first] : []
    // The unit grows meanwhile.
    for (const { memberships } of unit)
      for (const { slug } of memberships)
        for (const other of [owners.get(slug), organizations.get(slug)])
          if (other !== undefined && left.delete(other)) unit.push(other)
    if (unit.length > 0) yield unit
  }
}

/** A key must not be granted a claim within the second after a last use elsewhere. */
async function outlastLastUses(plans: readonly RecordPlan[], now: Instant): Promise<void> {
  const since = now - CLAIM_INTERVAL_US
  const isRecent = plans.some(
    ({ record }) =>
      !isOrganization(record) &&
      record.keys?.some(({ last_used_at }) => (last_used_at ?? since) > since),
  )
  if (isRecent) await delay(CLAIM_INTERVAL_US / 1_000 + 1)
}
