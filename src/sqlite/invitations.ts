import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import {
  INVITATIONS_SHOWN,
  type Invitation,
  type InvitationStore,
  type Invited,
  MEMBERS_MAX,
} from '../listing/invitation.ts'
import { ORGANIZATIONS_MAX } from '../listing/organization.ts'
import { transact } from './database.ts'

/** Whether the second parameter is a user who owns the organization that is the first. */
const OWNED = `EXISTS
  (SELECT 1 FROM members WHERE organization_id = ?1 AND user_id = ?2 AND role = 'owner')`
const OWN_ADDRESS = '(SELECT email FROM users WHERE id = ?1)'

export function invitations(database: DatabaseSync): InvitationStore {
  const owned = database.prepare(`SELECT ${OWNED} AS is_owned`)
  const dropOld = database.prepare(
    'DELETE FROM invitations WHERE organization_id = ? AND invited_at < ?',
  )
  const isMember = database.prepare(`
    SELECT 1 FROM members WHERE organization_id = ? AND user_id = (SELECT id FROM users WHERE email = ?)
  `)
  const count = database.prepare(`
    SELECT (SELECT count(*) FROM members WHERE organization_id = ?1) +
      (SELECT count(*) FROM invitations WHERE organization_id = ?1 AND email <> ?2) AS count
  `)
  const insert = database.prepare(`
    INSERT INTO invitations (id, organization_id, email, invited_by, invited_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (organization_id, email)
    DO UPDATE SET invited_by = excluded.invited_by, invited_at = excluded.invited_at
  `)
  const listInvited = database.prepare(`
    SELECT id, email, invited_at FROM invitations
    WHERE organization_id = ?1 AND invited_at >= ?3 AND ${OWNED} ORDER BY email
  `)
  const withdraw = database.prepare(`
    DELETE FROM invitations WHERE organization_id = ?1 AND id = ?3 AND ${OWNED}
  `)
  const list = database.prepare(`
    SELECT organization_id, organizations.name, users.email AS invited_by FROM invitations
    JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = invited_by
    WHERE invitations.email = ${OWN_ADDRESS} AND invited_at >= ?2
    ORDER BY invited_at DESC, organization_id LIMIT ${INVITATIONS_SHOWN}
  `)
  const isInvited = database.prepare(`
    SELECT 1 FROM invitations WHERE organization_id = ?2 AND email = ${OWN_ADDRESS} AND invited_at >= ?3
  `)
  const memberships = database.prepare('SELECT count(*) AS count FROM members WHERE user_id = ?')
  const decline = database.prepare(`
    DELETE FROM invitations WHERE organization_id = ?2 AND email = ${OWN_ADDRESS}
  `)
  const join = database.prepare(`
    INSERT INTO members (organization_id, user_id, role, joined_at) VALUES (?, ?, 'member', ?) ON CONFLICT DO NOTHING
  `)

  return {
    async invite(userId, organizationId, email, since, now) {
      return transact(database, () => {
        if (owned.get(organizationId, userId)?.is_owned !== 1) return 'not found'
        dropOld.run(organizationId, since)
        if (isMember.get(organizationId, email) !== undefined) return 'member'
        if (Number(count.get(organizationId, email)?.count) >= MEMBERS_MAX) return 'full'
        insert.run(randomUUID(), organizationId, email, userId, now)
        return 'invited'
      })
    },

    async listInvited(userId, organizationId, since) {
      const rows = listInvited.all(organizationId, userId, since)
      return rows.map((row) => ({ ...row }) as unknown as Invited)
    },

    async withdrawInvitation(userId, organizationId, id) {
      return withdraw.run(organizationId, userId, id).changes === 1
    },

    async listInvitations(userId, since) {
      return list.all(userId, since).map((row) => ({ ...row }) as unknown as Invitation)
    },

    async acceptInvitation(userId, organizationId, since, now) {
      return transact(database, () => {
        if (isInvited.get(userId, organizationId, since) === undefined) return 'not found'
        if (Number(memberships.get(userId)?.count) >= ORGANIZATIONS_MAX) return 'too many'
        decline.run(userId, organizationId)
        join.run(organizationId, userId, now)
        return 'joined'
      })
    },

    async declineInvitation(userId, organizationId) {
      return decline.run(userId, organizationId).changes === 1
    },
  }
}
