import type { Instant } from '../../model/instant.ts'
import {
  type MemberRole,
  type Membership,
  type Organization,
  ORGANIZATIONS_MAX,
  owns,
  type Role,
} from '../organization.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { at, type Sql, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act, type Note } from '../../accounts/records/audit.ts'

export function organizations(database: Database) {
  const { byBytes } = database.dialect

  return {
    /**
     * Creates an organization that the user owns. `too many` if the user is already in
     * ORGANIZATIONS_MAX.
     */
    insertOrganization: (
      userId: string,
      organization: Organization,
      actor: Actor,
    ): Promise<'made' | 'slug taken' | 'too many'> =>
      act(database, actor, async (transaction, note) => {
        const outcome = await insert(transaction, userId, organization, actor.at)
        if (outcome === 'made') note('organization made', userId, organization.id)
        return outcome
      }),

    /**
     * Finds or creates the organization with this slug and returns its id. Makes the user a member,
     * and the owner if it has no members.
     */
    ensureOrganization: (slug: string, userId: string, actor: Actor): Promise<string> =>
      act(database, actor, (transaction, note) =>
        ensureOrganization(transaction, slug, userId, actor.at, note),
      ),

    /** The user's organizations, by name. */
    async listOrganizations(userId: string): Promise<Membership[]> {
      return database.all<Membership>(sql`
        SELECT id, slug, name, role,
          (SELECT count(*) FROM servers WHERE organization_id = organizations.id) AS servers
        FROM members JOIN organizations ON organizations.id = organization_id
        WHERE user_id = ${uuid(userId)} ORDER BY name ${byBytes}, slug`)
    },

    /** Deletes an organization without servers, on behalf of an owner. */
    async removeOrganization(
      userId: string,
      organizationId: string,
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        if (!owns(await lockMembers(transaction, organizationId), userId)) return false
        const removed = await transaction.run(sql`
          DELETE FROM organizations WHERE id = ${uuid(organizationId)}
            AND NOT EXISTS (SELECT 1 FROM servers WHERE organization_id = ${uuid(organizationId)})`)
        if (removed === 1) note('organization deleted', userId, organizationId)
        return removed === 1
      })
    },
  }
}

async function insert(
  transaction: Transaction,
  userId: string,
  organization: Organization,
  now: Instant,
): Promise<'made' | 'slug taken' | 'too many'> {
  // One transaction after the other for each user, so that none makes more than the maximum.
  await transaction.lock('users', [userId])
  if (await belongsToTooMany(transaction, userId)) return 'too many'
  const inserted = await transaction.run(
    sql`${insertionOfOrganization(organization)} ON CONFLICT (slug) DO NOTHING`,
  )
  if (inserted === 0) return 'slug taken'
  await transaction.run(insertionOfMember(organization.id, userId, 'owner', now))
  return 'made'
}

async function ensureOrganization(
  transaction: Transaction,
  slug: string,
  userId: string,
  now: Instant,
  note: Note,
): Promise<string> {
  const wanted = { id: crypto.randomUUID(), slug, name: slug }
  const made = await transaction.run(
    sql`${insertionOfOrganization(wanted)} ON CONFLICT (slug) DO NOTHING`,
  )
  const found = await transaction.get<{ id: string }>(
    sql`SELECT id FROM organizations WHERE slug = ${slug}`,
  )
  const { id } = found!
  if (made === 1) note('organization made', userId, id)
  const joined = await transaction.run(sql`
    INSERT INTO members (organization_id, user_id, joined_at, role)
    VALUES (${uuid(id)}, ${uuid(userId)}, ${at(now)},
      CASE WHEN EXISTS (SELECT 1 FROM members WHERE organization_id = ${uuid(id)})
      THEN 'member' ELSE 'owner' END)
    ON CONFLICT DO NOTHING`)
  if (joined === 1 && made === 0) note('member added', userId, id)
  return id
}

/** Without the clause that says what happens if the slug is taken. */
function insertionOfOrganization({ id, slug, name }: Organization): Sql {
  return sql`INSERT INTO organizations (id, slug, name) VALUES (${uuid(id)}, ${slug}, ${name})`
}

export function insertionOfMember(
  organizationId: string,
  userId: string,
  role: Role,
  joinedAt: Instant,
): Sql {
  return sql`
    INSERT INTO members (organization_id, user_id, role, joined_at)
    VALUES (${uuid(organizationId)}, ${uuid(userId)}, ${role}, ${at(joinedAt)})`
}

/**
 * The members of an organization. No other transaction changes them until this one ends. Call it
 * after the transaction has locked users.
 */
export async function lockMembers(
  transaction: Transaction,
  organizationId: string,
): Promise<MemberRole[]> {
  await transaction.lock('organizations', [organizationId], 'remove')
  return transaction.all<MemberRole>(
    sql`SELECT user_id, role FROM members WHERE organization_id = ${uuid(organizationId)}`,
  )
}

/** Whether the user may make or join no other organization. The caller holds the user's lock. */
export async function belongsToTooMany(queries: Queries, userId: string): Promise<boolean> {
  const last = await queries.get(sql`
    SELECT 1 FROM members WHERE user_id = ${uuid(userId)} LIMIT 1 OFFSET ${ORGANIZATIONS_MAX - 1}`)
  return last !== null
}

export const isMember = (userId: string, organizationId: string): Sql => sql`EXISTS
  (SELECT 1 FROM members WHERE organization_id = ${uuid(organizationId)} AND user_id = ${uuid(userId)})`
