import type { ClientBase } from 'pg'
import {
  GIVEN_BACK_MAX,
  type Member,
  type Membership,
  ORGANIZATIONS_MAX,
  type OrganizationStore,
} from '../listing/organization.ts'
import type { Database } from './database.ts'
import { timestampOf } from './instants.ts'
import { isUuid } from './uuid.ts'

/** Servers under an organization of people who are no members of it. */
const LEFT = `
  SELECT id FROM servers WHERE organization_id = $1
    AND NOT EXISTS (SELECT FROM members WHERE organization_id = $1 AND user_id = created_by)
  LIMIT ${GIVEN_BACK_MAX}
`
/** A slug that the owner has already among the personal servers is not kept. */
export const giveBack = (ids: string) => `
  UPDATE servers SET organization_id = NULL, status = 'draft', slug = CASE WHEN EXISTS (
    SELECT FROM servers AS own
    WHERE own.created_by = servers.created_by AND own.slug = servers.slug AND own.organization_id IS NULL
  ) THEN NULL ELSE slug END
  WHERE id IN (${ids}) RETURNING id
`

export function organizations(database: Database): OrganizationStore {
  return {
    async insertOrganization(userId, { id, slug, name }, now) {
      return database.transact(async (client) => {
        // One after the other for each user, so that nobody makes more than they may.
        await client.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId])
        const { rowCount } = await client.query('SELECT FROM members WHERE user_id = $1', [userId])
        if (rowCount !== null && rowCount >= ORGANIZATIONS_MAX) return 'too many'
        const inserted = await client.query(
          `WITH made AS (
             INSERT INTO organizations (id, slug, name) VALUES ($1, $2, $3) ON CONFLICT (slug) DO NOTHING RETURNING id
           )
           INSERT INTO members (organization_id, user_id, role, joined_at)
           SELECT id, $4, 'owner', ${timestampOf('$5')} FROM made RETURNING user_id`,
          [id, slug, name, userId, now],
        )
        return inserted.rowCount === 1 ? 'made' : 'slug taken'
      })
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

    async countLeftServers(organizationId) {
      if (!isUuid(organizationId)) return 0
      return (await database.query(LEFT, [organizationId])).length
    },

    async giveBackServers(userId, organizationId) {
      if (!isUuid(organizationId)) return null
      return database.transact(async (client) => {
        if (!(await ownsLocked(client, userId, organizationId))) return null
        return (await client.query(giveBack(LEFT), [organizationId])).rowCount ?? 0
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
export async function ownsLocked(
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
