import { act } from '../../accounts/records/audit.ts'
import type { NamedUser } from '../../accounts/user.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { inUuids, type Sql, sql } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import type { ActsAnswer, Complaint, Document, Hand } from '../document.ts'
import { planDocument } from './planned.ts'
import type { Planning, PlanOptions } from './planning.ts'
import { organizationsMeant, readStored, usersMeant } from './stored.ts'
import { writePlan } from './written.ts'

export interface PerformOptions {
  hand: Hand
  actor: Actor
  /** Whether OPERATORS has this address. */
  isOperator(email: string): boolean
  /** Only answers. */
  dryRun?: boolean
}

/** An operator's document has mistakes that only the database shows. Nothing was changed. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly complaints: readonly Complaint[]

  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(({ place, message }) => `${place}: ${message}`).join('\n'))
    this.complaints = complaints
  }
}

export function acts(database: Database) {
  const { dialect } = database

  const plan = async (queries: Queries, document: Document, options: PlanOptions, meant?: Sql) => {
    const { hand } = options
    const isMeant = meant ?? (await usersMeant(queries, document, hand))
    return planDocument(
      document,
      await readStored(queries, dialect, document, hand, isMeant),
      options,
    )
  }

  return {
    /**
     * Does all acts of a document in one transaction and says what it has done. Throws Refusal for
     * an operator's document that has a mistake. Tries again if another transaction has taken an
     * address, a slug or a hash at the same moment, or waits for rows that this one has locked.
     */
    async perform(document: Document, options: PerformOptions): Promise<ActsAnswer> {
      const { actor, dryRun = false } = options
      const given = { ...options, now: actor.at }
      if (dryRun)
        return answerOf(
          await database.snapshot(async (queries) =>
            plan(queries, await expand(queries, document), given),
          ),
        )
      return again(database, () =>
        act(database, actor, async (transaction, note) => {
          const whole = await expand(transaction, document)
          const isLocked = await lockMeant(transaction, whole, options.hand)
          const planning = await plan(transaction, whole, given, isLocked)
          const answer = answerOf(planning)
          await writePlan(transaction, dialect, planning, note)
          return answer
        }),
      )
    },
  }
}

function answerOf({ answer, complaints }: Planning): ActsAnswer {
  if (complaints.length > 0) throw new Refusal(complaints)
  return answer
}

/** How often a transaction begins again that collides with others. */
const ATTEMPTS = 3

async function again<Result>(
  { dialect }: Database,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let left = ATTEMPTS; ; left -= 1)
    try {
      return await attempt()
    } catch (error) {
      if (left === 1 || !(dialect.isTaken(error) || isDeadlock(error))) throw error
    }
}

const isDeadlock = (error: unknown) => (error as { code?: unknown }).code === '40P01'

/** The document with the users and owners whom "these are all" means. */
async function expand(queries: Queries, document: Document): Promise<Document> {
  const { all_users, all_servers, all_servers_of = [] } = document
  const expanded = { ...document }
  if (all_servers) {
    const owners = await queries.all<{ id: string }>(sql`
      SELECT DISTINCT users.id FROM servers JOIN users ON users.id = created_by
      WHERE external_id IS NOT NULL AND organization_id IS NULL`)
    expanded.all_servers_of = [...all_servers_of, ...named(owners, 'all_servers')]
  }
  if (all_users) {
    const users = await queries.all<NamedUser>(sql`
      SELECT id, external_id, email FROM users WHERE external_id IS NOT NULL AND banned_at IS NULL`)
    const isListed = listedIn(document)
    expanded.banned = named(
      users.filter((user) => !isListed(user)),
      'all_users',
    )
  }
  return expanded
}

const named = (users: readonly { id: string }[], place: string) =>
  users.map(({ id }) => ({ user_id: id, row: 0, place }))

/** Whether put_users names a user. An address that it gives to another one does not. */
function listedIn({ put_users = [] }: Document): (user: NamedUser) => boolean {
  const names = new Set(
    put_users.flatMap(({ external_id, user_id, email }) => [
      `1${external_id}`,
      `2${user_id}`,
      ...(external_id || user_id ? [] : [`3${email}`]),
    ]),
  )
  return ({ id, external_id, email }) =>
    names.has(`1${external_id}`) || names.has(`2${id}`) || names.has(`3${email}`)
}

/**
 * Another document waits, so that both see users that don't exist yet. Returns which users are
 * locked: one that appears afterwards counts as absent, and then its address or id is taken.
 */
async function lockMeant(transaction: Transaction, document: Document, hand: Hand): Promise<Sql> {
  await transaction.lockNames(['apply'])
  const idsWhere = async (table: Sql, where: Sql) => {
    const found = await transaction.all<{ id: string }>(sql`SELECT id FROM ${table} WHERE ${where}`)
    return found.map(({ id }) => id)
  }
  const known = await idsWhere(sql`users`, await usersMeant(transaction, document, hand))
  await transaction.lock('users', known)
  const places = await idsWhere(sql`organizations`, organizationsMeant(document))
  await transaction.lock('organizations', places, 'remove')
  return sql`id ${inUuids(known)}`
}
