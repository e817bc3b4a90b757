import { setTimeout as delay } from 'node:timers/promises'
import { CLAIM_INTERVAL_US } from '../../listing/api-key.ts'
import type { Instant } from '../../listing/instant.ts'
import type { DeclaredState } from '../../listing/state/declared-state.ts'
import type { Applied, ConfirmedState, StateChange } from '../../listing/state/state-store.ts'
import type { Store } from '../../listing/store.ts'
import { count } from '../../listing/text.ts'
import { Failure } from '../errors.ts'

/** A serving process takes the lock of an SQLite file in this pause. */
const PAUSE_SERVED_MS = 10

/**
 * Makes the confirmed changes: organizations with their members first, one transaction each, then
 * one transaction for each user. Stops at the first that fails; what is done stays done.
 */
export async function applyPlan(
  store: Store,
  state: DeclaredState,
  confirmed: ConfirmedState,
): Promise<void> {
  const { changes } = confirmed.plan
  const changesOf = Map.groupBy(changes, (change) => change.of)
  const confirmedOf = (part: readonly StateChange[]) => {
    return { ...confirmed, plan: { changes: [...part], keptRevoked: [] } }
  }
  const organizations = state.organizations.filter(({ slug }) => changesOf.has(slug))
  const users = state.users.filter(({ email }) => changesOf.has(email))
  await outlastLastUses(users, confirmed.now)
  const newUsers = changes.filter(({ kind }) => kind === 'user')
  const steps: { of: string; run: () => Promise<Applied> }[] = [
    ...organizations.map((organization) => {
      const { slug } = organization
      const part = confirmedOf([...changesOf.get(slug)!, ...newUsers])
      return { of: slug, run: () => store.applyOrganization(organization, state.users, part) }
    }),
    ...users.map((user) => {
      const { email } = user
      return { of: email, run: () => store.applyUser(user, confirmedOf(changesOf.get(email)!)) }
    }),
  ]
  for (const [done, { of, run }] of steps.entries()) {
    const failed = (reason: string) =>
      new Failure(
        `${of} was not changed: ${reason}. Done before that: ${count(done)} of ` +
          `${count(steps.length)} users and organizations. ` +
          'Run the same command again to finish',
      )
    const applied = await run().catch((error: unknown) => {
      throw failed((error as Error).message)
    })
    if (applied === 'outdated')
      throw failed('another program has changed it since the plan was made')
    if (store.isServed()) await delay(PAUSE_SERVED_MS)
  }
}

/** A key must not be granted a claim within the second after a last use elsewhere. */
async function outlastLastUses(users: DeclaredState['users'], now: Instant): Promise<void> {
  const since = now - CLAIM_INTERVAL_US
  const isRecent = users.some(({ keys = [] }) =>
    keys.some(({ last_used_at }) => (last_used_at ?? since) > since),
  )
  if (isRecent) await delay(CLAIM_INTERVAL_US / 1_000 + 1)
}
