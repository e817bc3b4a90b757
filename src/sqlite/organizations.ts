import type { DatabaseSync } from 'node:sqlite'
import type { Member, Membership, OrganizationStore } from '../listing/organization.ts'
import { transact } from './database.ts'

export function organizations(database: DatabaseSync): OrganizationStore {
  const insert = database.prepare(
    'INSERT INTO organizations (id, slug, name) VALUES (?, ?, ?) ON CONFLICT (slug) DO NOTHING',
  )
  const join = database.prepare(
    'INSERT INTO members (organization_id, user_id, role) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const list = database.prepare(`
    SELECT id, slug, name, role,
      (SELECT count(*) FROM servers WHERE organization_id = organizations.id) AS servers
    FROM members JOIN organizations ON organizations.id = organization_id
    WHERE user_id = ? ORDER BY name, slug
  `)
  const listMembers = database.prepare(`
    SELECT members.user_id, email, role FROM members JOIN users ON users.id = members.user_id
    WHERE organization_id = ?1
      AND EXISTS (SELECT 1 FROM members WHERE organization_id = ?1 AND user_id = ?2)
    ORDER BY email
  `)
  const isOwner = database.prepare(
    `SELECT 1 FROM members WHERE organization_id = ? AND user_id = ? AND role = 'owner'`,
  )
  const findUser = database.prepare('SELECT id FROM users WHERE email = ?')
  const leave = database.prepare(`
    DELETE FROM members WHERE organization_id = ?1 AND user_id = ?2 AND (
      role = 'member' OR
      EXISTS (SELECT 1 FROM members WHERE organization_id = ?1 AND user_id <> ?2 AND role = 'owner')
    )
  `)
  const remove = database.prepare(`
    DELETE FROM organizations
    WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM servers WHERE organization_id = ?1)
  `)

  return {
    async insertOrganization(userId, { id, slug, name }) {
      return transact(database, () => {
        if (insert.run(id, slug, name).changes === 0) return false
        join.run(id, userId, 'owner')
        return true
      })
    },

    async listOrganizations(userId) {
      return list.all(userId).map((row) => ({ ...row }) as unknown as Membership)
    },

    async listMembers(userId, organizationId) {
      return listMembers.all(organizationId, userId).map((row) => ({ ...row }) as unknown as Member)
    },

    async addMember(userId, organizationId, email) {
      return transact(database, () => {
        if (isOwner.get(organizationId, userId) === undefined) return 'not found'
        const user = findUser.get(email)
        if (user === undefined) return 'no user'
        join.run(organizationId, user.id as string, 'member')
        return 'added'
      })
    },

    async removeMember(userId, organizationId, memberId) {
      return transact(database, () => {
        if (userId !== memberId && isOwner.get(organizationId, userId) === undefined) return false
        return leave.run(organizationId, memberId).changes === 1
      })
    },

    async removeOrganization(userId, organizationId) {
      return transact(database, () => {
        if (isOwner.get(organizationId, userId) === undefined) return false
        return remove.run(organizationId).changes === 1
      })
    },
  }
}
