import type { ClientBase } from 'pg'
import type { Member, Membership, OrganizationStore } from '../listing/organization.ts'
import type { Database } from './database.ts'
import { isUuid } from './uuid.ts'

export function organizations(database: Database): OrganizationStore {
  return {
    async insertOrganization(userId, { id, slug, name }) {
      const inserted = await database.query(
        `WITH made AS (
           INSERT INTO organizations (id, slug, name) VALUES ($1, $2, $3) ON CONFLICT (slug) DO NOTHING RETURNING id
         )
         INSERT INTO members (organization_id, user_id, role) SELECT id, $4, 'owner' FROM made RETURNING user_id`,
        [id, slug, name, userId],
      )
      return inserted.length === 1
    },

    async listOrganizations(userId) {
      return database.query<Membership>(
        `SELECT id, slug, name, role,
           (SELECT count(*)::int FROM servers WHERE organization_id = organizations.id) AS servers
         FROM members JOIN organizations ON organizations.id = organization_id
         WHERE user_id = $1 ORDER BY name COLLATE "C", slug`,
        [userId],
      )
    },

    async listMembers(userId, organizationId) {
      if (!isUuid(organizationId)) return []
      return database.query<Member>(
        `SELECT members.user_id, email, role FROM members JOIN users ON users.id = members.user_id
         WHERE organization_id = $1
           AND EXISTS (SELECT FROM members WHERE organization_id = $1 AND user_id = $2)
         ORDER BY email COLLATE "C"`,
        [organizationId, userId],
      )
    },

    async addMember(userId, organizationId, email) {
      if (!isUuid(organizationId)) return 'not found'
      return database.transact(async (client) => {
        if (!(await ownsLocked(client, userId, organizationId))) return 'not found'
        const found = await client.query('SELECT id FROM users WHERE email = $1', [email])
        if (found.rowCount === 0) return 'no user'
        await client.query(
          `INSERT INTO members (organization_id, user_id, role) VALUES ($1, $2, 'member') ON CONFLICT DO NOTHING`,
          [organizationId, found.rows[0].id],
        )
        return 'added'
      })
    },

    async removeMember(userId, organizationId, memberId) {
      if (!isUuid(organizationId) || !isUuid(memberId)) return false
      return database.transact(async (client) => {
        const isOwner = await ownsLocked(client, userId, organizationId)
        if (userId !== memberId && !isOwner) return false
        const { rowCount } = await client.query(
          `DELETE FROM members WHERE organization_id = $1 AND user_id = $2 AND (
             role = 'member' OR
             EXISTS (SELECT FROM members WHERE organization_id = $1 AND user_id <> $2 AND role = 'owner')
           )`,
          [organizationId, memberId],
        )
        return rowCount === 1
      })
    },

    async removeOrganization(userId, organizationId) {
      if (!isUuid(organizationId)) return false
      return database.transact(async (client) => {
        if (!(await ownsLocked(client, userId, organizationId))) return false
        const { rowCount } = await client.query(
          `DELETE FROM organizations WHERE id = $1
             AND NOT EXISTS (SELECT FROM servers WHERE organization_id = $1)`,
          [organizationId],
        )
        return rowCount === 1
      })
    },
  }
}

/** Whether the user owns the organization, whose members nobody else can change until the transaction ends. */
async function ownsLocked(
  client: ClientBase,
  userId: string,
  organizationId: string,
): Promise<boolean> {
  await client.query('SELECT FROM organizations WHERE id = $1 FOR UPDATE', [organizationId])
  const { rowCount } = await client.query(
    `SELECT FROM members WHERE organization_id = $1 AND user_id = $2 AND role = 'owner'`,
    [organizationId, userId],
  )
  return rowCount === 1
}
