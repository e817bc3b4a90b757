import { complaintAboutLine, quote } from './text.ts'

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
  /** Makes an organization that the user owns. False if the slug is taken. */
  insertOrganization(userId: string, organization: Organization): Promise<boolean>
  /** Those the user is a member of, by name. */
  listOrganizations(userId: string): Promise<Membership[]>
  /** The members, by e-mail; empty for who is none. */
  listMembers(userId: string, organizationId: string): Promise<Member[]>
  /** Done by an owner. `not found` for who is none; `no user` where nobody has this e-mail. */
  addMember(
    userId: string,
    organizationId: string,
    email: string,
  ): Promise<'added' | 'no user' | 'not found'>
  /**
   * Done by an owner to anybody, and by everyone to themselves. The last owner stays, and so does what the member
   * registered.
   */
  removeMember(userId: string, organizationId: string, memberId: string): Promise<boolean>
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
