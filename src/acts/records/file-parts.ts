import { act, type Note } from '../../accounts/records/audit.ts'
import { type NamedUser, nameOf } from '../../accounts/user.ts'
import type { Database } from '../../database/database.ts'
import { inStrings, sql } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import type { Instant } from '../../model/instant.ts'
import type { Complaint, Document } from '../document.ts'
import { partsOf } from '../parts.ts'
import { expand, planLocked, planRead, retryCollisions } from './planned.ts'
import type { Planning, PlanOptions, Whole } from './planning.ts'
import { nameOfKey, type ToldChange, tellChanges } from './told.ts'
import { writePlan } from './written.ts'

export interface Parts {
  parts: Document[]
  whole: Whole
}

/** What doing a part changes, or the reasons why it can't be done. */
export interface PartPlan {
  document: Document
  changes: ToldChange[]
  complaints: Complaint[]
  /** The places of put_users, by the ids of the users. */
  places: ReadonlyMap<string, string>
  /** Active keys of the document that stay revoked. */
  keptRevoked: { of: string; text: string }[]
}

/** An operator's document of any size, in parts of one transaction each. */
export function fileParts(database: Database) {
  const { dialect } = database

  return {
    /** Returns the parts in the order in which `plan` and `apply` take them. */
    async split(document: Document, operators: readonly string[] = []): Promise<Parts> {
      const emails = (document.put_users ?? []).flatMap(({ email }) => email ?? [])
      const [expanded, holders] = await database.snapshot(async (queries) => [
        await expand(queries, document),
        await queries.all<NamedUser>(
          sql`SELECT id, external_id, email FROM users WHERE email ${inStrings(emails)}`,
        ),
      ])
      return { parts: partsOf(expanded, holders), whole: { ...wholeOf(document), operators } }
    },

    /** What a part would do. Changes nothing. */
    async plan(part: Document, whole: Whole, now: Instant): Promise<PartPlan> {
      const planning = await database.snapshot((queries) =>
        planRead(queries, dialect, part, optionsFor(whole, now)),
      )
      const { complaints, places, keptRevoked, users } = planning
      return {
        document: part,
        changes: tellChanges(planning),
        complaints,
        places,
        keptRevoked: keptRevoked.map((key) => ({
          of: nameOf(users.get(key.user_id)!),
          text: nameOfKey(key),
        })),
      }
    },

    /**
     * Does a planned part. Makes no change that the plan lacks: it returns the name of a user or
     * organization that another program has changed since, and then nothing was written. Else it
     * returns null. `end` is one more entry.
     */
    apply: (
      { document, changes }: PartPlan,
      whole: Whole,
      actor: Actor,
      end?: Parameters<Note>,
    ): Promise<string | null> =>
      retryCollisions(database, () =>
        act(database, actor, async (transaction, note) => {
          const options = optionsFor({ ...whole, made: new Set() }, actor.at)
          const planning = await planLocked(transaction, dialect, document, options)
          const outdated = outdatedIn(planning, changes)
          if (outdated !== null) return outdated
          await writePlan(transaction, dialect, planning, note)
          if (end !== undefined) note(...end)
          return null
        }),
      ),
  }
}

const optionsFor = (whole: Whole, now: Instant): PlanOptions => ({
  hand: 'operator',
  now,
  whole,
  isOperator: (email) => whole.operators.includes(email),
})

function wholeOf({
  put_servers = [],
  remove_servers = [],
  put_organizations = [],
}: Document): Omit<Whole, 'operators'> {
  return {
    servers: new Map<string, string | null | undefined>([
      ...put_servers.flatMap(({ id, organization }) => (id ? [[id, organization] as const] : [])),
      ...remove_servers.map(({ id }) => [id, null] as const),
    ]),
    made: new Set(put_organizations.map(({ slug }) => slug)),
  }
}

/** Null if the transaction would do nothing that the operator has not seen. */
function outdatedIn(planning: Planning, shown: readonly ToldChange[]): string | null {
  const [complaint] = planning.complaints
  if (complaint !== undefined) return complaint.place.replace(/\.\w+$/, '')
  const seen = new Set(shown.map(lineOf))
  return tellChanges(planning).find((one) => !seen.has(lineOf(one)))?.of ?? null
}

const lineOf = ({ action, kind, of, text }: ToldChange): string =>
  JSON.stringify([action, kind, of, text])
