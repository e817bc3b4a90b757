import { type DeclaredRecord, isOrganization } from '../../listing/state/declared-state.ts'
import type {
  RecordPlan,
  StateChange,
  StateOptions,
  StateStore,
} from '../../listing/state/state-store.ts'
import type { Database, Transaction } from '../database.ts'
import { inStrings, sql } from '../sql.ts'
import { planOrganization } from './planned-organization.ts'
import { planUser } from './planned-user.ts'
import { isNamed, type Part, readParts, readStored, type Stored } from './stored-state.ts'
import { type PlannedPart, writePart } from './written-state.ts'

/** Ends a transaction that would make a change which this plan lacks. */
class Outdated extends Error {
  override name = 'Outdated'
  readonly plan: RecordPlan
  constructor(plan: RecordPlan) {
    super(`${plan.of} has changed since the plan was made`)
    this.plan = plan
  }
}

export function states(database: Database): StateStore {
  const { dialect } = database

  async function write(plans: readonly RecordPlan[], options: StateOptions): Promise<void> {
    const part = partOf(plans.map(({ record }) => record))
    await database.transact(async (transaction) => {
      const locked = await lockPart(transaction, part, plans)
      const stored = await readStored(transaction, dialect, part)
      const planned = planPart(part, stored, options)
      const found = new Map<DeclaredRecord, RecordPlan>(
        [...planned.organizations, ...planned.users].map((one) => [one.record, one]),
      )
      for (const plan of plans)
        if (!isConfirmed(found.get(plan.record)!, plan)) throw new Outdated(plan)
      const unlocked = planned.users.find(({ before }) => before && !locked.has(before.id))
      if (unlocked !== undefined) throw new Outdated(unlocked)
      const ownerless = await writePart(transaction, dialect, planned, options.now)
      if (ownerless.length === 0) return
      const needy = plans.find(({ of, needs }) =>
        [of, ...needs].some((one) => ownerless.includes(one)),
      )
      throw new Outdated(needy ?? plans[0]!)
    })
  }

  return {
    readState: (onPart) => database.snapshot((queries) => readParts(queries, dialect, onPart)),

    async planState(records, options) {
      const part = partOf(records)
      const stored = await database.snapshot((queries) => readStored(queries, dialect, part))
      const { organizations, users } = planPart(part, stored, options)
      return [...organizations, ...users]
    },

    async applyState(plans, options) {
      const attempt = () => write(plans, options)
      try {
        // Another process may have stored the same address, slug or hash at the same moment. The
        // second attempt sees it.
        await attempt().catch((error: unknown) => {
          if (!dialect.isTaken(error)) throw error
          return attempt()
        })
        return null
      } catch (error) {
        if (error instanceof Outdated) return error.plan
        throw error
      }
    },
  }
}

function partOf(records: readonly DeclaredRecord[]): Part {
  return {
    organizations: records.filter(isOrganization),
    users: records.flatMap((record) => (isOrganization(record) ? [] : [record])),
  }
}

function planPart(part: Part, stored: Stored, options: StateOptions): PlannedPart {
  return {
    organizations: part.organizations.map((one) => planOrganization(one, stored)),
    users: part.users.map((one) => planUser(one, stored, options)),
  }
}

/**
 * Another `apply` waits, so that both see users that don't exist yet. Returns the ids of the locked
 * users: a row that appears afterwards is not locked, so its plan could be wrong.
 */
async function lockPart(
  transaction: Transaction,
  { users }: Part,
  plans: readonly RecordPlan[],
): Promise<ReadonlySet<string>> {
  await transaction.lockNames(['apply'])
  const known = idsOf(
    await transaction.all<{ id: string }>(sql`SELECT id FROM users WHERE ${isNamed(users)}`),
  )
  await transaction.lock('users', known)
  const slugs = [
    ...plans.flatMap(({ owns, needs }) => [...owns, ...needs]),
    ...plans.flatMap(({ userId, of }) => (userId === null ? [of] : [])),
    ...users.flatMap(({ servers = [] }) => servers.flatMap((one) => one.organization ?? [])),
  ]
  const places = await transaction.all<{ id: string }>(
    sql`SELECT id FROM organizations WHERE slug ${inStrings([...new Set(slugs)])}`,
  )
  await transaction.lock('organizations', idsOf(places), 'remove')
  return new Set(known)
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/** True if the transaction would do nothing that the operator has not seen. */
function isConfirmed(planned: RecordPlan, shown: RecordPlan): boolean {
  const seen = new Set(shown.changes.map(lineOf))
  return planned.complaints.length === 0 && planned.changes.every((one) => seen.has(lineOf(one)))
}

const lineOf = ({ action, kind, of, text }: StateChange): string =>
  JSON.stringify([action, kind, of, text])
