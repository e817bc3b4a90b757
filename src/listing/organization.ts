import type { Instant } from './instant.ts'
import { complaintAboutLine, quote } from './text.ts'

/** Organizations that one user may make or join; an operator's import can go beyond. */
export const ORGANIZATIONS_MAX = 20
/** Servers given back in one transaction, in which nobody else can write. */
export const GIVEN_BACK_MAX = 500

export type Role = 'owner' | 'member'

export interface Organization {
  id: string
  slug: string
  name: string
}

/** An organization as one of its members sees it. */
export interface Membership extends Organization {
  role: Role
  servers: number
}

export interface Member {
  user_id: string
  email: string
  role: Role
}

/** What the dashboard asks of a store about organizations; what a user may not see is as if it were not there. */
export interface OrganizationStore {
  /** Makes an organization that the user owns. `too many` where they are a member of ORGANIZATIONS_MAX. */
  insertOrganization(
    userId: string,
    organization: Organization,
    now: Instant,
  ): Promise<'made' | 'slug taken' | 'too many'>
  /** Those the user is a member of, by name. */
  listOrganizations(userId: string): Promise<Membership[]>
  /** The members, by e-mail; empty for who is none. */
  listMembers(userId: string, organizationId: string): Promise<Member[]>
  /**
   * Done by an owner to anybody, and by everyone to themselves. The last owner stays, and so does what the member
   * registered.
   */
  removeMember(userId: string, organizationId: string, memberId: string): Promise<boolean>
  /** How many servers are under it of people who are no members; at most GIVEN_BACK_MAX are counted. */
  countLeftServers(organizationId: string): Promise<number>
  /**
   * Done by an owner: gives servers of people who are no members back to who registered them, as personal drafts, at
   * most GIVEN_BACK_MAX at a time. Returns their number; null for who is no owner.
   */
  giveBackServers(userId: string, organizationId: string): Promise<number | null>
  /** Done by an owner, and only where no server is registered under it. */
  removeOrganization(userId: string, organizationId: string): Promise<boolean>
}

const NAME_LENGTH_MAX = 100
const SLUG_LENGTH_MAX = 64
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** The name as it will be stored; or why it cannot be one. */
export function checkOrganizationName(name: string): { name: string } | { complaint: string } {
  const trimmed = name.trim()
  const complaint = complaintAboutLine(trimmed, NAME_LENGTH_MAX)
  return complaint === null ? { name: trimmed } : { complaint: `The name must ${complaint}.` }
}

/** Lower-case letters, digits and single hyphens. */
export function isOrganizationSlug(slug: string): boolean {
  return slug.length <= SLUG_LENGTH_MAX && SLUG.test(slug)
}

/** What is wrong with a slug, as a sentence. */
export function complaintAboutOrganizationSlug(slug: string): string | null {
  if (isOrganizationSlug(slug)) return null
  return `A slug has lower-case letters, digits and single hyphens, at most ${SLUG_LENGTH_MAX}: ${quote(slug)} does not fit.`
}
