import type { Organization } from '../../organizations/organization.ts'
import {
  complaintIn,
  type DeclaredOrganization,
  type StateComplaint,
  type DeclaredRecord,
  type DeclaredState,
  isOrganization,
} from '../declared-state.ts'
import { quote } from '../../model/text.ts'
import { addChange, differences, emptyPlan, type Planned } from './changes.ts'
import { type Stored, isNamed, readParts, readStored } from './stored-state.ts'
import type { RecordPlan, StateChange, StateOptions, StoredState } from '../state-store.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { inStrings, inUuids, type Sql, sql } from '../../database/sql.ts'
import { planUser } from './planned-user.ts'
import { readOwners, writeChanges } from './written-state.ts'
import { operatorAt } from '../../model/audit.ts'
import { act, type Note } from '../../accounts/records/audit.ts'

export function states(database: Database) {
  const { dialect } = database

  const write = (plans: readonly RecordPlan[], options: StateOptions, end?: Parameters<Note>) =>
    act(database, operatorAt(options.now), async (transaction, note) => {
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
      if (outdated !== undefined) return outdated
      await writeChanges(transaction, dialect, changes, stored, owners, options.now, note)
      if (end !== undefined) note(...end)
      return null
    })

  return {
    /**
     * Hands over all records that a state file can declare, as they were at one moment: in the
     * order of their ids, first organizations with their members, then users with what they have.
     * `onPart` must not wait for anything, because a transaction is open.
     */
    readState: (onPart: (part: StoredState) => void): Promise<void> =>
      database.snapshot((queries) => readParts(queries, dialect, onPart)),

    /** What applying these records would do. Changes nothing. */
    async planState(
      records: readonly DeclaredRecord[],
      options: StateOptions,
    ): Promise<RecordPlan[]> {
      const part = partOf(records)
      const stored = await database.snapshot((queries) => readStored(queries, dialect, part))
      return records.map((record) => planRecord(record, stored, options))
    },

    /**
     * Makes these records as declared, and writes audit entries. A plan that makes a member comes
     * with those of the organization and of an owner, or after them. A last use must be at least
     * one second ago, because the limit does not look at it. Never makes a revoked key active.
     *
     * Makes no change that the plans lack: it returns a plan whose record another program has
     * changed since, and then nothing was written. Else it returns null. `end` is one more entry.
     */
    applyState: (
      plans: readonly RecordPlan[],
      options: StateOptions,
      end?: Parameters<Note>,
    ): Promise<RecordPlan | null> =>
      write(plans, options, end).catch((error: unknown) => {
        // Another process may have stored the same address, slug or hash at the same moment. The
        // second attempt sees it.
        if (!dialect.isTaken(error)) throw error
        return write(plans, options, end)
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

/** Plans an organization itself. Its members are planned with the users. */
function planOrganization(record: DeclaredOrganization, stored: Stored): Planned {
  const { slug, name } = record
  const plan = emptyPlan(record, null, slug)
  const before = stored.organizationsBySlug.get(slug) ?? null
  plan.complaints.push(...complaintsAbout(record, before, stored))
  plan.memberships.push({ slug, role: null })
  const after = { id: before?.id ?? record.id ?? crypto.randomUUID(), slug, name }
  if (before === null) addChange(plan, 'organization', null, after, quote(name))
  else
    for (const told of differences(before, after))
      addChange(plan, 'organization', before, after, told)
  return plan
}

function complaintsAbout(
  record: DeclaredOrganization,
  known: Organization | null,
  stored: Stored,
): StateComplaint[] {
  const { id, slug, members } = record
  if (known === null && members === undefined)
    return [complaintIn(record, 'members', 'is missing; a new organization needs an owner')]
  if (id === undefined || id === known?.id) return []
  if (known !== null)
    return [complaintIn(record, 'id', `must be the id of ${slug}, ${known.id}, or be left out`)]
  const other = stored.organizationsById.get(id)
  return other === undefined
    ? []
    : [complaintIn(record, 'id', `is the id of the organization ${other.slug}`)]
}
