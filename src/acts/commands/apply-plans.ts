import { setTimeout as delay } from 'node:timers/promises'
import type { Note } from '../../accounts/records/audit.ts'
import { inBatches } from '../../database/batches.ts'
import type { Store } from '../../database/store.ts'
import { operatorAt } from '../../model/audit.ts'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { type Instant, presentInstant } from '../../model/instant.ts'
import { count, countOf } from '../../model/text.ts'
import { Failure } from '../../terminal/errors.ts'
import { createProgress } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { fileParts, type PartPlan } from '../records/file-parts.ts'
import type { FilePlan } from './plan-file.ts'
import { sayChanges } from './show-plan.ts'

/**
 * Makes the confirmed changes, a part in each transaction. Stops at the first transaction that
 * fails; what is done stays done. The audit log has an entry for each change, and a last one with
 * this action that counts them.
 */
export async function applyPlans(
  shell: Shell,
  store: Store,
  { plans, whole }: FilePlan,
  action: 'state applied' | 'keys imported',
): Promise<void> {
  const needed = plans.filter(({ changes }) => changes.length > 0)
  const actor = operatorAt(presentInstant())
  await outlastLastUses(needed, actor.at)
  const progress = createProgress(shell)
  const changes = needed.reduce((sum, one) => sum + one.changes.length, 0)
  let [at, done] = [0, 0]
  await inBatches(async (rowsMax) => {
    const plan = needed[at]
    if (plan === undefined) return 0
    at += 1
    const end: Parameters<Note> | undefined =
      at === needed.length ? [action, null, sayChanges(needed)] : undefined
    const failed = await fileParts(store.database)
      .apply(plan, whole, actor, end)
      .then(
        (outdated) =>
          outdated &&
          `${outdated} was not changed: another program has changed it since the plan was made`,
        ({ message }: Error) => `${nameOfPart(plan)} not made: ${message}`,
      )
    if (failed !== null) {
      progress.clear()
      throw new Failure(
        `${failed}. Done before that: ${count(done)} of ${countOf(changes, 'change')}. Run the ` +
          'same command again to finish',
      )
    }
    done += plan.changes.length
    progress.show(`made ${count(done)} of ${countOf(changes, 'change')}`)
    return rowsMax
  }, store.isServed)
  progress.clear()
}

function nameOfPart({ changes }: PartPlan): string {
  const [first, last] = [changes[0]!.of, changes.at(-1)!.of]
  const whose = first === last ? `of ${first}` : `from ${first} to ${last}`
  return `${countOf(changes.length, 'change')} ${whose} ${changes.length === 1 ? 'was' : 'were'}`
}

/** A key must not be granted a claim within the second after a last use elsewhere. */
async function outlastLastUses(plans: readonly PartPlan[], now: Instant): Promise<void> {
  const since = now - CLAIM_INTERVAL_US
  const isRecent = plans.some(({ document }) =>
    document.put_keys?.some(({ last_used_at }) => (last_used_at ?? since) > since),
  )
  if (isRecent) await delay(CLAIM_INTERVAL_US / 1_000 + 1)
}
