import type { NamedUser } from './accounts/user.ts'
import type { Instant } from './instant.ts'
import { complaintAboutLine, quote } from './text.ts'

/** Organizations per user. An operator's import can exceed this. */
export const ORGANIZATIONS_MAX = 20
/** The most servers that one transaction returns, because no other writer can proceed meanwhile. */
export const RETURNED_MAX = 500

export type Role = 'owner' | 'member'

export interface Organization {
  id: string
  slug: string
  name: string
}

/** An organization as a member sees it. */
export interface Membership extends Organization {
  role: Role
  servers: number
}

export interface Member extends Omit<NamedUser, 'id'> {
  user_id: string
  role: Role
}

/** The organizations of a store. A method treats what a user may not see as missing. */
export interface OrganizationStore {
  /**
   * Creates an organization that the user owns. `too many` if the user is already in
   * ORGANIZATIONS_MAX.
   */
  insertOrganization(
    userId: string,
    organization: Organization,
    now: Instant,
  ): Promise<'made' | 'slug taken' | 'too many'>
  /** The user's organizations, by name. */
  listOrganizations(userId: string): Promise<Membership[]>
  /** The members, by name. Empty unless the user is a member. */
  listMembers(userId: string, organizationId: string): Promise<Member[]>
  /**
   * Removes a member. An owner can remove any member, and all members can remove themselves. The
   * last owner stays. The servers of the member stay in the organization.
   */
  removeMember(userId: string, organizationId: string, memberId: string): Promise<boolean>
  /** The number of servers of former members, counted up to RETURNED_MAX. */
  countServersOfFormerMembers(organizationId: string): Promise<number>
  /**
   * Returns servers of former members to them as personal drafts, on behalf of an owner. Handles at
   * most RETURNED_MAX servers and returns their number. Null if the user is not an owner.
   */
  returnServers(userId: string, organizationId: string): Promise<number | null>
  /** Deletes an organization without servers, on behalf of an owner. */
  removeOrganization(userId: string, organizationId: string): Promise<boolean>
}

export const ORGANIZATION_NAME_LENGTH_MAX = 100
const SLUG_LENGTH_MAX = 64
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** Trims a name for the store, or says why it is invalid. */
export function checkOrganizationName(name: string): { name: string } | { complaint: string } {
  const trimmed = name.trim()
  const complaint = complaintAboutLine(trimmed, ORGANIZATION_NAME_LENGTH_MAX)
  return complaint === null ? { name: trimmed } : { complaint: `The name must ${complaint}.` }
}

/** Lowercase letters, digits and single hyphens. */
export function isOrganizationSlug(slug: string): boolean {
  return slug.length <= SLUG_LENGTH_MAX && SLUG.test(slug)
}

/** The error of an invalid slug, as a sentence. Null if it is valid. */
export function complaintAboutOrganizationSlug(slug: string): string | null {
  if (isOrganizationSlug(slug)) return null
  return (
    `A slug can contain only lowercase letters, digits and single hyphens, at most ` +
    `${SLUG_LENGTH_MAX} characters, not ${quote(slug)}.`
  )
}
