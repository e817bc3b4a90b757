import { INVITATIONS_SHOWN, type Invitation, type Invited, MEMBERS_MAX } from '../invitation.ts'
import { USER_NAME } from '../../accounts/records/user-columns.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { belongsToTooMany, insertionOfMember, isOwner, ownsLocked } from './organizations.ts'
import { at, type Sql, sql, uuid } from '../../database/sql.ts'
import type { Instant } from '../../model/instant.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from '../../accounts/records/audit.ts'

export function invitations(database: Database) {
  const { instant, byBytes } = database.dialect

  return {
    /**
     * Invites an address on behalf of an owner; `not found` for other users. A second invitation
     * replaces the first. `full` if the organization would exceed MEMBERS_MAX.
     */
    async invite(
      userId: string,
      organizationId: string,
      email: string,
      since: Instant,
      actor: Actor,
    ): Promise<'invited' | 'member' | 'full' | 'not found'> {
      return act(database, actor, async (transaction, note) => {
        const outcome = await invite(transaction, userId, organizationId, email, since, actor.at)
        if (outcome === 'invited') note('invited', userId, organizationId)
        return outcome
      })
    },

    /** The invitations of an organization, by email address. Empty unless the user is an owner. */
    async listInvited(userId: string, organizationId: string, since: Instant): Promise<Invited[]> {
      return database.all<Invited>(sql`
        SELECT id, email, ${instant('invited_at')} FROM invitations
        WHERE organization_id = ${uuid(organizationId)} AND invitations.invited_at >= ${at(since)}
          AND ${isOwner(userId, organizationId)}
        ORDER BY email ${byBytes}`)
    },

    /** Withdraws an invitation on behalf of an owner. */
    async withdrawInvitation(
      userId: string,
      organizationId: string,
      id: string,
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        const withdrawn = await transaction.run(sql`
          DELETE FROM invitations WHERE organization_id = ${uuid(organizationId)}
            AND id = ${uuid(id)} AND ${isOwner(userId, organizationId)}`)
        if (withdrawn === 1) note('invitation withdrawn', userId, organizationId)
        return withdrawn === 1
      })
    },

    /** The user's latest invitations, at most INVITATIONS_SHOWN. */
    async listInvitations(userId: string, since: Instant): Promise<Invitation[]> {
      return database.all<Invitation>(sql`
        SELECT organization_id, organizations.name, ${USER_NAME} AS invited_by FROM invitations
        JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = invited_by
        WHERE invitations.email = ${emailOf(userId)} AND invited_at >= ${at(since)}
        ORDER BY invited_at DESC, organization_id LIMIT ${INVITATIONS_SHOWN}`)
    },

    /**
     * Makes the user a member. `too many` if the user is already in ORGANIZATIONS_MAX
     * organizations.
     */
    async acceptInvitation(
      userId: string,
      organizationId: string,
      since: Instant,
      actor: Actor,
    ): Promise<'joined' | 'too many' | 'not found'> {
      return act(database, actor, async (transaction, note) => {
        const outcome = await accept(transaction, userId, organizationId, since, actor.at)
        if (outcome === 'joined') note('invitation accepted', userId, organizationId)
        return outcome
      })
    },

    declineInvitation: (userId: string, organizationId: string, actor: Actor): Promise<boolean> =>
      act(database, actor, async (transaction, note) => {
        const isDeclined = await decline(transaction, userId, organizationId)
        if (isDeclined) note('invitation declined', userId, organizationId)
        return isDeclined
      }),
  }
}

/** Members and invited people, without those who have this address. */
async function countWithout(
  queries: Queries,
  organizationId: string,
  email: string,
): Promise<number> {
  const row = await queries.get<{ count: number }>(sql`
    SELECT (SELECT count(*) FROM members WHERE organization_id = ${uuid(organizationId)})
      + (SELECT count(*) FROM invitations
         WHERE organization_id = ${uuid(organizationId)} AND email <> ${email}) AS count`)
  return row!.count
}

async function invite(
  transaction: Transaction,
  userId: string,
  organizationId: string,
  email: string,
  since: Instant,
  now: Instant,
): Promise<'invited' | 'member' | 'full' | 'not found'> {
  const organization = uuid(organizationId)
  if (!(await ownsLocked(transaction, userId, organizationId))) return 'not found'
  await transaction.run(sql`
    DELETE FROM invitations
    WHERE organization_id = ${organization} AND invited_at < ${at(since)}`)
  const member = await transaction.get(sql`
    SELECT 1 FROM members JOIN users ON users.id = user_id
    WHERE organization_id = ${organization} AND email = ${email}`)
  if (member !== null) return 'member'
  if ((await countWithout(transaction, organizationId, email)) >= MEMBERS_MAX) return 'full'
  await transaction.run(sql`
    INSERT INTO invitations (id, organization_id, email, invited_by, invited_at)
    VALUES (${uuid(crypto.randomUUID())}, ${organization}, ${email}, ${uuid(userId)}, ${at(now)})
    ON CONFLICT (organization_id, email)
    DO UPDATE SET invited_by = excluded.invited_by, invited_at = excluded.invited_at`)
  return 'invited'
}

async function accept(
  transaction: Transaction,
  userId: string,
  organizationId: string,
  since: Instant,
  now: Instant,
): Promise<'joined' | 'too many' | 'not found'> {
  // One transaction after the other for each user, so that none joins more than the maximum.
  await transaction.lock('users', [userId])
  await transaction.lock('organizations', [organizationId], 'keep')
  const invited = await transaction.get(sql`
    SELECT 1 FROM invitations WHERE ${isOf(userId, organizationId)} AND invited_at >= ${at(since)}`)
  if (invited === null) return 'not found'
  if (await belongsToTooMany(transaction, userId)) return 'too many'
  // A withdrawal at the same moment deletes the row, too. Only one of the two does.
  if (!(await decline(transaction, userId, organizationId))) return 'not found'
  const insertion = insertionOfMember(organizationId, userId, 'member', now)
  await transaction.run(sql`${insertion} ON CONFLICT DO NOTHING`)
  return 'joined'
}

async function decline(queries: Queries, userId: string, organizationId: string): Promise<boolean> {
  return (
    (await queries.run(sql`DELETE FROM invitations WHERE ${isOf(userId, organizationId)}`)) === 1
  )
}

/** The invitation to an organization that has the user's present address. */
const isOf = (userId: string, organizationId: string): Sql =>
  sql`organization_id = ${uuid(organizationId)} AND email = ${emailOf(userId)}`

const emailOf = (userId: string): Sql => sql`(SELECT email FROM users WHERE id = ${uuid(userId)})`
