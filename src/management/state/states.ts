import type {
  DeclaredState,
  DeclaredUser,
  StateComplaint,
} from '../../listing/state/declared-state.ts'
import type {
  Applied,
  ConfirmedState,
  StateChange,
  StateOptions,
  StatePlan,
  StateStore,
  StoredState,
} from '../../listing/state/state-store.ts'
import type { Database, Transaction } from '../database.ts'
import { lookupIn } from './lookup.ts'
import { namesIn } from './names.ts'
import { planOrganization } from './planned-organization.ts'
import { type Planned, planUser } from './planned-user.ts'
import { readPeople, readStored } from './stored-state.ts'
import { sql, strings, uuids } from '../sql.ts'
import { writeOrganization } from './written-organization.ts'
import { writeUser } from './written-user.ts'

/** Ends a transaction whose plan is not the confirmed one. */
class Outdated extends Error {
  override name = 'Outdated'
}

export function states(database: Database): StateStore {
  const { dialect } = database

  /** Runs the writes of `body`, or none of them if the database has changed since the plan. */
  async function apply(body: (transaction: Transaction) => Promise<boolean>): Promise<Applied> {
    try {
      await database.transact(async (transaction) => {
        if (!(await body(transaction))) throw new Outdated()
      })
      return 'written'
    } catch (error) {
      // Another process may have stored the same email address, slug or hash at the same moment.
      if (error instanceof Outdated || dialect.isTaken(error)) return 'outdated'
      throw error
    }
  }

  return {
    readState: () => database.snapshot((queries) => readStored(queries, dialect)),

    planState: (state, options) =>
      database.snapshot(async (queries) => {
        const stored = await readStored(queries, dialect, state)
        return planAll(state, stored, options)
      }),

    applyOrganization: (organization, users, confirmed) =>
      apply(async (transaction) => {
        const { slug, members = [] } = organization
        const present = await transaction.all<{ email: string }>(sql`
          SELECT email FROM users WHERE id IN (SELECT user_id FROM members WHERE organization_id IN
            (SELECT id FROM organizations WHERE slug = ${slug}))`)
        const emails = new Set([...members, ...present].map(({ email }) => email))
        const related = users.filter(({ email }) => emails.has(email))
        const locked = await lockUsers(transaction, related)
        const known = idsOf(
          await transaction.all<Found>(sql`SELECT id FROM organizations WHERE slug = ${slug}`),
        )
        await transaction.lock('organizations', known, 'remove')
        const scope = { organizations: [organization], users: related }
        const stored = await readPeople(transaction, dialect, scope)
        if (stored.users.some(({ id }) => !locked.has(id))) return false
        if (stored.organizations.some((one) => one.slug === slug && !known.includes(one.id)))
          return false
        const planned = planOrganization(organization, related, stored, confirmed)
        if (!isConfirmed(planned, confirmed)) return false
        return writeOrganization(transaction, planned.plan, confirmed.now)
      }),

    applyUser: (user, confirmed) =>
      apply(async (transaction) => {
        const locked = await lockUsers(transaction, [user])
        const scope = { organizations: [], users: [user] }
        const stored = await readStored(transaction, dialect, scope)
        if (stored.users.some(({ id }) => !locked.has(id))) return false
        const planned = planUser(user, lookupIn(stored), namesIn(stored, scope, false), confirmed)
        if (!isConfirmed(planned, confirmed)) return false
        return writeUser(transaction, dialect, planned.plan, stored.organizations, confirmed.now)
      }),
  }
}

interface Found {
  id: string
}

const idsOf = (found: readonly Found[]) => found.map(({ id }) => id)

/**
 * Makes others that apply these users wait, also for users that don't exist yet. Returns the ids of
 * the locked rows. A row that appears afterwards is not locked, so its plan could be wrong.
 */
async function lockUsers(
  transaction: Transaction,
  users: readonly DeclaredUser[],
): Promise<ReadonlySet<string>> {
  const emails = users.map(({ email }) => email)
  await transaction.lockNames(emails)
  const known = idsOf(
    await transaction.all<Found>(sql`
      SELECT id FROM users
      WHERE email IN (${strings(emails)}) OR id IN (${uuids(users.flatMap(({ id }) => id ?? []))})`),
  )
  await transaction.lock('users', known)
  return new Set(known)
}

function planAll(
  state: DeclaredState,
  stored: StoredState,
  options: StateOptions,
): StatePlan | { complaints: StateComplaint[] } {
  const names = namesIn(stored, state, options.prune)
  const organizations = state.organizations.map((one) =>
    planOrganization(one, state.users, stored, options),
  )
  const lookup = lookupIn(stored)
  const users = state.users.map((one) => planUser(one, lookup, names, options))
  const all: Planned<unknown>[] = [...organizations, ...users]
  const complaints = all.flatMap((one) => one.complaints)
  if (complaints.length > 0) return { complaints }
  const changes = all.flatMap((one) => one.changes)
  // A new member is a new user of the plan for the organization and of the one for the user.
  const distinct = new Map(changes.map((change) => [lineOf(change), change]))
  return {
    changes: changes.filter((change) => change.kind !== 'user' || distinct.delete(lineOf(change))),
    keptRevoked: all.flatMap(({ kept }) => kept),
  }
}

/** True if the transaction would do nothing that the operator has not seen. */
function isConfirmed({ complaints, changes }: Planned<unknown>, { plan }: ConfirmedState): boolean {
  const seen = new Set(plan.changes.map(lineOf))
  return complaints.length === 0 && changes.every((change) => seen.has(lineOf(change)))
}

const lineOf = ({ action, kind, of, text }: StateChange): string =>
  JSON.stringify([action, kind, of, text])
