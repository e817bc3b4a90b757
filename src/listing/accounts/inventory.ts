import type { Instant } from '../instant.ts'
import type { Organization } from '../organization.ts'
import type { User } from './user.ts'

/** What the service removes with a user. */
export interface Belongings {
  /** Active ones. */
  api_keys: number
  servers: number
  /** Those of the servers that are in organizations. */
  organization_servers: number
  /** Organizations with no other member. */
  organizations: number
}

/** A user as an operator lists them. */
export interface UserRecord extends User {
  /** With a password and an email address, unless disabled. */
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
