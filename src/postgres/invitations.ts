import {
  INVITATIONS_SHOWN,
  type Invitation,
  type InvitationStore,
  MEMBERS_MAX,
} from '../listing/invitation.ts'
import { ORGANIZATIONS_MAX } from '../listing/organization.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'
import { ownsLocked } from './organizations.ts'
import { isUuid } from './uuid.ts'

/** Whether the second parameter is a user who owns the organization that is the first. */
const OWNED = `EXISTS
  (SELECT FROM members WHERE organization_id = $1 AND user_id = $2 AND role = 'owner')`
const OWN_ADDRESS = '(SELECT email FROM users WHERE id = $1)'

export function invitations(database: Database): InvitationStore {
  return {
    async invite(userId, organizationId, email, since, now) {
      if (!isUuid(organizationId)) return 'not found'
      return database.transact(async (client) => {
        if (!(await ownsLocked(client, userId, organizationId))) return 'not found'
        await client.query(
          `DELETE FROM invitations WHERE organization_id = $1 AND invited_at < ${timestampOf('$2')}`,
          [organizationId, since],
        )
        const { rows } = await client.query(
          `SELECT EXISTS (SELECT FROM members JOIN users ON users.id = user_id
               WHERE organization_id = $1 AND email = $2) AS is_member,
             (SELECT count(*) FROM members WHERE organization_id = $1)
               + (SELECT count(*) FROM invitations WHERE organization_id = $1 AND email <> $2) AS count`,
          [organizationId, email],
        )
        if (rows[0].is_member) return 'member'
        if (Number(rows[0].count) >= MEMBERS_MAX) return 'full'
        await client.query(
          `INSERT INTO invitations (id, organization_id, email, invited_by, invited_at)
           VALUES (gen_random_uuid(), $1, $2, $3, ${timestampOf('$4')}) ON CONFLICT (organization_id, email)
           DO UPDATE SET invited_by = excluded.invited_by, invited_at = excluded.invited_at`,
          [organizationId, email, userId, now],
        )
        return 'invited'
      })
    },

    async listInvited(userId, organizationId, since) {
      if (!isUuid(organizationId)) return []
      const rows = await database.query<{ id: string; email: string; invited_at: string }>(
        `SELECT id, email, ${microsecondsOf('invited_at')} FROM invitations
         WHERE organization_id = $1 AND invitations.invited_at >= ${timestampOf('$3')} AND ${OWNED}
         ORDER BY email COLLATE "C"`,
        [organizationId, userId, since],
      )
      return rows.map((row) => ({ ...row, invited_at: toInstant(row.invited_at) }))
    },

    async withdrawInvitation(userId, organizationId, id) {
      if (!isUuid(organizationId) || !isUuid(id)) return false
      const withdrawn = await database.query(
        `DELETE FROM invitations WHERE organization_id = $1 AND id = $3 AND ${OWNED} RETURNING id`,
        [organizationId, userId, id],
      )
      return withdrawn.length === 1
    },

    async listInvitations(userId, since) {
      return database.query<Invitation>(
        `SELECT organization_id, organizations.name, users.email AS invited_by FROM invitations
         JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = invited_by
         WHERE invitations.email = ${OWN_ADDRESS} AND invited_at >= ${timestampOf('$2')}
         ORDER BY invited_at DESC, organization_id LIMIT ${INVITATIONS_SHOWN}`,
        [userId, since],
      )
    },

    async acceptInvitation(userId, organizationId, since, now) {
      if (!isUuid(organizationId)) return 'not found'
      return database.transact(async (client) => {
        // One after the other for each user, so that nobody joins more than they may.
        await client.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId])
        const invited = await client.query(
          `SELECT FROM invitations
           WHERE organization_id = $2 AND email = ${OWN_ADDRESS} AND invited_at >= ${timestampOf('$3')} FOR UPDATE`,
          [userId, organizationId, since],
        )
        if (invited.rowCount === 0) return 'not found'
        const { rowCount } = await client.query('SELECT FROM members WHERE user_id = $1', [userId])
        if (rowCount !== null && rowCount >= ORGANIZATIONS_MAX) return 'too many'
        await client.query(DECLINE, [userId, organizationId])
        await client.query(
          `INSERT INTO members (organization_id, user_id, role, joined_at)
           VALUES ($1, $2, 'member', ${timestampOf('$3')}) ON CONFLICT DO NOTHING`,
          [organizationId, userId, now],
        )
        return 'joined'
      })
    },

    async declineInvitation(userId, organizationId) {
      if (!isUuid(organizationId)) return false
      const declined = await database.query(`${DECLINE} RETURNING email`, [userId, organizationId])
      return declined.length === 1
    },
  }
}

const DECLINE = `DELETE FROM invitations WHERE organization_id = $2 AND email = ${OWN_ADDRESS}`
