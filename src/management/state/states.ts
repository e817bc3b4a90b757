import {
  type DeclaredRecord,
  type DeclaredState,
  isOrganization,
} from '../../listing/state/declared-state.ts'
import type {
  RecordPlan,
  StateChange,
  StateOptions,
  StateStore,
} from '../../listing/state/state-store.ts'
import type { Database, Transaction } from '../database.ts'
import { inStrings, inUuids, type Sql, sql } from '../sql.ts'
import type { Planned } from './changes.ts'
import { planOrganization } from './planned-organization.ts'
import { planUser } from './planned-user.ts'
import { isNamed, readParts, readStored, type Stored } from './stored-state.ts'
import { readOwners, writeChanges } from './written-state.ts'

export function states(database: Database): StateStore {
  const { dialect } = database

  const write = (plans: readonly RecordPlan[], options: StateOptions) =>
    database.transact(async (transaction) => {
      const records = plans.map(({ record }) => record)
      const part = partOf(records)
      const isLocked = await lockPart(transaction, part, plans)
      const stored = await readStored(transaction, dialect, part, isLocked)
      const planned = records.map((record) => planRecord(record, stored, options))
      const changes = planned.flatMap((plan) => plan.changes)
      const slugs = plans.flatMap(({ memberships }) => memberships.map(({ slug }) => slug))
      const owners = await readOwners(transaction, dialect, changes, slugs)
      const outdated = plans.find(
        (plan, at) =>
          !isConfirmed(planned[at]!, plan) ||
          plan.memberships.some(({ slug }) => !owners.has(slug)),
      )
      if (outdated === undefined)
        await writeChanges(transaction, dialect, changes, stored, owners, options.now)
      return outdated ?? null
    })

  return {
    readState: (onPart) => database.snapshot((queries) => readParts(queries, dialect, onPart)),

    async planState(records, options) {
      const part = partOf(records)
      const stored = await database.snapshot((queries) => readStored(queries, dialect, part))
      return records.map((record) => planRecord(record, stored, options))
    },

    // Another process may have stored the same address, slug or hash at the same moment. The second
    // attempt sees it.
    applyState: (plans, options) =>
      write(plans, options).catch((error: unknown) => {
        if (!dialect.isTaken(error)) throw error
        return write(plans, options)
      }),
  }
}

function partOf(records: readonly DeclaredRecord[]): DeclaredState {
  return {
    organizations: records.filter(isOrganization),
    users: records.flatMap((record) => (isOrganization(record) ? [] : [record])),
  }
}

function planRecord(record: DeclaredRecord, stored: Stored, options: StateOptions): Planned {
  return isOrganization(record)
    ? planOrganization(record, stored)
    : planUser(record, stored, options)
}

/**
 * Another `apply` waits, so that both see users that don't exist yet. Returns which users are
 * locked: one that appears afterwards counts as absent, and then its address or id is taken.
 */
async function lockPart(
  transaction: Transaction,
  { users }: DeclaredState,
  plans: readonly RecordPlan[],
): Promise<Sql> {
  await transaction.lockNames(['apply'])
  const idsWhere = async (table: Sql, where: Sql) => {
    const found = await transaction.all<{ id: string }>(sql`SELECT id FROM ${table} WHERE ${where}`)
    return found.map(({ id }) => id)
  }
  const known = await idsWhere(sql`users`, isNamed(users))
  await transaction.lock('users', known)
  const slugs = new Set([
    ...plans.flatMap(({ memberships }) => memberships.map(({ slug }) => slug)),
    ...users.flatMap(({ servers = [] }) => servers.flatMap((one) => one.organization ?? [])),
  ])
  const places = await idsWhere(sql`organizations`, sql`slug ${inStrings([...slugs])}`)
  await transaction.lock('organizations', places, 'remove')
  return sql`id ${inUuids(known)}`
}

/** True if the transaction would do nothing that the operator has not seen. */
function isConfirmed(planned: RecordPlan, shown: RecordPlan): boolean {
  const seen = new Set(shown.changes.map(lineOf))
  return planned.complaints.length === 0 && planned.changes.every((one) => seen.has(lineOf(one)))
}

const lineOf = ({ action, kind, of, text }: StateChange): string =>
  JSON.stringify([action, kind, of, text])
