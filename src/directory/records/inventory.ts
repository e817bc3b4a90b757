import type { Instant } from '../../model/instant.ts'
import type { Organization } from '../../organizations/organization.ts'
import { hasAccess, type User } from '../../accounts/user.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import type { Database } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import { withOwners, type OwnedApiKey } from '../../keys/records/owned-api-keys.ts'
import { newOwners, ownedAlone, serversLeftTo, serversThatStay } from './removed-user.ts'
import { USER_NAME, userColumns } from '../../accounts/records/user-columns.ts'

/** What the service removes with a user, or hands over to others. */
export interface Belongings {
  /** Active ones. */
  api_keys: number
  /** Those that go. */
  servers: number
  /** Servers in organizations with another member. They go to the oldest owner. */
  kept_servers: number
  /** Organizations with no other member. */
  organizations: number
  /** Servers of other users in these organizations, which become their personal drafts. */
  returned_servers: number
  /** Organizations whose only owner is the user. The oldest other member becomes the owner. */
  inherited_organizations: number
}

/** A user as an operator lists them. */
export interface UserRecord extends User {
  /** With a password and an email address, or an identity, and access. */
  can_sign_in: boolean
  /** Active ones. */
  api_keys: number
  servers: number
  /** Null if the audit log has no sign-in. */
  last_sign_in_at: Instant | null
}

export interface OrganizationRecord extends Organization {
  members: number
  servers: number
  /** Their names. */
  owners: string[]
}

type UserRow = Omit<UserRecord, 'can_sign_in'> & { ways_in: number }

export function inventory(database: Database) {
  const { byBytes, instant, selectApiKeys } = database.dialect

  return {
    async countBelongings(userId: string): Promise<Belongings> {
      const user = uuid(userId)
      return (await database.get<Belongings>(sql`
        SELECT (SELECT count(*) FROM api_keys WHERE user_id = ${user} AND revoked_at IS NULL) AS api_keys,
          (SELECT count(*) FROM servers WHERE created_by = ${user}
            AND id NOT IN (${serversThatStay(userId)})) AS servers,
          (SELECT count(*) FROM (${serversThatStay(userId)}) AS kept) AS kept_servers,
          (SELECT count(*) FROM (${ownedAlone(userId)}) AS alone) AS organizations,
          (SELECT count(*) FROM (${serversLeftTo(userId)}) AS left_servers) AS returned_servers,
          (SELECT count(*) FROM (${newOwners(userId)}) AS inherited) AS inherited_organizations`))!
    },

    /** By name. */
    async listUserRecords(): Promise<UserRecord[]> {
      // Each count reads its table once, and not once for each user.
      const rows = await database.all<UserRow>(sql`
        SELECT ${userColumns(database.dialect)},
          (SELECT count(*) FROM passwords WHERE user_id = users.id AND email IS NOT NULL)
            + (SELECT count(*) FROM identities WHERE user_id = users.id) AS ways_in,
          coalesce(api_keys, 0) AS api_keys, coalesce(servers, 0) AS servers,
          ${instant('last_sign_in_at')}
        FROM users
        LEFT JOIN (SELECT user_id, count(*) AS api_keys FROM api_keys
          WHERE revoked_at IS NULL GROUP BY user_id) AS of_keys ON of_keys.user_id = id
        LEFT JOIN (SELECT created_by, count(*) AS servers FROM servers
          GROUP BY created_by) AS of_servers ON of_servers.created_by = id
        LEFT JOIN (SELECT user_id, max(occurred_at) AS last_sign_in_at FROM audit_log
          WHERE action IN ('sign-in', 'sign-up', 'sign-in link used', 'signed in by link') GROUP BY user_id) AS of_log ON of_log.user_id = id
        ORDER BY ${USER_NAME} ${byBytes}`)
      return rows.map(({ ways_in, api_keys, servers, last_sign_in_at, ...user }) => ({
        ...user,
        can_sign_in: ways_in > 0 && hasAccess(user),
        api_keys,
        servers,
        last_sign_in_at,
      }))
    },

    /** The keys of one user or of all, by the owner's name and then oldest first. */
    async listOwnedApiKeys(userId?: string): Promise<OwnedApiKey[]> {
      const owned = userId === undefined ? sql`true` : sql`user_id = ${uuid(userId)}`
      const apiKeys = await database.all<ApiKey>(
        sql`${selectApiKeys(owned)} ORDER BY api_keys.created_at, id`,
      )
      return withOwners(database, apiKeys)
    },

    /** By slug. */
    async listOrganizationRecords(): Promise<OrganizationRecord[]> {
      const rows = await database.all<Omit<OrganizationRecord, 'owners'>>(sql`
        SELECT id, slug, name,
          (SELECT count(*) FROM members WHERE organization_id = organizations.id) AS members,
          (SELECT count(*) FROM servers WHERE organization_id = organizations.id) AS servers
        FROM organizations ORDER BY slug ${byBytes}`)
      const owners = await database.all<{ organization_id: string; name: string }>(sql`
        SELECT organization_id, ${USER_NAME} AS name FROM members JOIN users ON users.id = user_id
        WHERE role = 'owner' ORDER BY ${USER_NAME} ${byBytes}`)
      const byOrganization = Map.groupBy(owners, ({ organization_id }) => organization_id)
      return rows.map((row) => ({
        ...row,
        owners: (byOrganization.get(row.id) ?? []).map(({ name }) => name),
      }))
    },
  }
}
