import type { DatabaseSync } from 'node:sqlite'
import {
  GIVEN_BACK_MAX,
  type Member,
  type Membership,
  ORGANIZATIONS_MAX,
  type OrganizationStore,
} from '../listing/organization.ts'
import { transact } from './database.ts'

/** Servers under an organization of people who are no members of it, at most `limit`. */
const LEFT = `
  SELECT id FROM servers WHERE organization_id = :organization
    AND NOT EXISTS (SELECT 1 FROM members WHERE organization_id = :organization AND user_id = created_by)
  LIMIT :limit
`
/** A slug that the owner has already among the personal servers is not kept. */
export const giveBack = (ids: string) => `
  UPDATE servers SET organization_id = NULL, status = 'draft', slug = CASE WHEN EXISTS (
    SELECT 1 FROM servers AS own
    WHERE own.created_by = servers.created_by AND own.slug = servers.slug AND own.organization_id IS NULL
  ) THEN NULL ELSE slug END
  WHERE id IN (${ids})
`

export function organizations(database: DatabaseSync): OrganizationStore {
  const insert = database.prepare(
    'INSERT INTO organizations (id, slug, name) VALUES (?, ?, ?) ON CONFLICT (slug) DO NOTHING',
  )
  const join = database.prepare(
    `INSERT INTO members (organization_id, user_id, role, joined_at) VALUES (?, ?, 'owner', ?)`,
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
  const oneTooMany = database.prepare(
    `SELECT 1 FROM members WHERE user_id = ? LIMIT 1 OFFSET ${ORGANIZATIONS_MAX - 1}`,
  )
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

  const countLeft = database.prepare(`SELECT count(*) AS count FROM (${LEFT})`)
  const giveBackLeft = database.prepare(giveBack(LEFT))

  return {
    async insertOrganization(userId, { id, slug, name }, now) {
      return transact(database, () => {
        if (oneTooMany.get(userId) !== undefined) return 'too many'
        if (insert.run(id, slug, name).changes === 0) return 'slug taken'
        join.run(id, userId, now)
        return 'made'
      })
    },

    async listOrganizations(userId) {
      return list.all(userId).map((row) => ({ ...row }) as unknown as Membership)
    },

    async listMembers(userId, organizationId) {
      return listMembers.all(organizationId, userId).map((row) => ({ ...row }) as unknown as Member)
    },

    async removeMember(userId, organizationId, memberId) {
      return transact(database, () => {
        if (userId !== memberId && isOwner.get(organizationId, userId) === undefined) return false
        return leave.run(organizationId, memberId).changes === 1
      })
    },

    async countLeftServers(organization) {
      return Number(countLeft.get({ organization, limit: GIVEN_BACK_MAX })?.count)
    },

    async giveBackServers(userId, organization) {
      return transact(database, () => {
        if (isOwner.get(organization, userId) === undefined) return null
        return Number(giveBackLeft.run({ organization, limit: GIVEN_BACK_MAX }).changes)
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
