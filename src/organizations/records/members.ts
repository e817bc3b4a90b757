import type { Instant } from '../../model/instant.ts'
import { canEnd, type Member, MEMBERS_MAX, owns } from '../organization.ts'
import { nameOf } from '../../accounts/user.ts'
import { HAS_ACCESS, USER_NAME } from '../../accounts/records/user-columns.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act, type Note } from '../../accounts/records/audit.ts'
import { belongsToTooMany, insertionOfMember, isMember, lockMembers } from './organizations.ts'

/** Stands where the entry of a new member has the address. The owner's is not for the member. */
const ORGANIZATION_PAGE = 'organization page'

export function members(database: Database) {
  const { byBytes } = database.dialect

  return {
    /** The members, by name. Empty unless the user is a member. */
    async listMembers(userId: string, organizationId: string): Promise<Member[]> {
      return database.all<Member>(sql`
        SELECT members.user_id, email, external_id, role, coalesce(kept.servers, 0) AS servers
        FROM members JOIN users ON users.id = members.user_id
        LEFT JOIN (SELECT created_by, count(*) AS servers FROM servers
          WHERE organization_id = ${uuid(organizationId)} GROUP BY created_by
        ) AS kept ON created_by = members.user_id
        WHERE organization_id = ${uuid(organizationId)} AND ${isMember(userId, organizationId)}
        ORDER BY ${USER_NAME} ${byBytes}`)
    },

    /**
     * Adds the account with this address as a member, on behalf of an owner; `not found` for other
     * users. `no account` if none with access has the address. `full` if the
     * organization has MEMBERS_MAX members, `too many` if the account is in ORGANIZATIONS_MAX
     * organizations.
     */
    addMember: (
      userId: string,
      organizationId: string,
      email: string,
      actor: Actor,
    ): Promise<Added> =>
      act(database, actor, (transaction, note) =>
        add(transaction, note, userId, organizationId, email, actor.at),
      ),

    /**
     * Removes a member. An owner can remove any member, and all members can remove themselves. The
     * last owner stays. The servers of the member stay in the organization.
     */
    async removeMember(
      userId: string,
      organizationId: string,
      memberId: string,
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        const isRemoved = await remove(transaction, userId, organizationId, memberId)
        if (isRemoved) note('member removed', userId, memberId)
        return isRemoved
      })
    },
  }
}

/** The names of an organization's members, by their ids. Empty unless the user is a member. */
export async function namesOfMembers(
  database: Database,
  userId: string,
  organizationId: string,
): Promise<Map<string, string>> {
  const known = await members(database).listMembers(userId, organizationId)
  return new Map(known.map((one) => [one.user_id, nameOf({ ...one, id: one.user_id })]))
}

type Added = 'added' | 'member' | 'no account' | 'full' | 'too many' | 'not found'

async function add(
  transaction: Transaction,
  note: Note,
  userId: string,
  organizationId: string,
  email: string,
  now: Instant,
): Promise<Added> {
  const find = async () => {
    const active = sql`SELECT id FROM users WHERE email = ${email} AND ${HAS_ACCESS}`
    return (await transaction.get<{ id: string }>(active))?.id
  }
  const memberId = await find()
  // One transaction after the other for each user, so that none joins more than the maximum.
  await transaction.lock('users', [memberId ?? ''])
  const known = await lockMembers(transaction, organizationId)
  if (!owns(known, userId)) return 'not found'
  // The account may have no access by now, or another address.
  if (memberId === undefined || (await find()) !== memberId) return 'no account'
  if (known.some(({ user_id }) => user_id === memberId)) return 'member'
  if (known.length >= MEMBERS_MAX) return 'full'
  if (await belongsToTooMany(transaction, memberId)) return 'too many'
  await transaction.run(insertionOfMember(organizationId, memberId, 'member', now))
  note('member added by owner', userId, memberId)
  note('member added', memberId, organizationId, ORGANIZATION_PAGE)
  return 'added'
}

async function remove(
  transaction: Transaction,
  userId: string,
  organizationId: string,
  memberId: string,
): Promise<boolean> {
  const known = await lockMembers(transaction, organizationId)
  if (!canEnd(known, memberId, userId)) return false
  await transaction.run(sql`
    DELETE FROM members
    WHERE organization_id = ${uuid(organizationId)} AND user_id = ${uuid(memberId)}`)
  return true
}
