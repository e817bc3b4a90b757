import type { NamedUser } from '../accounts/user.ts'
import { complaintAboutLine, quote } from '../model/text.ts'

/** Organizations per user. An operator's import can exceed this. */
export const ORGANIZATIONS_MAX = 20

/** Members per organization. A site and an operator's import can exceed this. */
export const MEMBERS_MAX = 50

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

export interface MemberRole {
  user_id: string
  role: Role
}

export interface Member extends MemberRole, Omit<NamedUser, 'id'> {
  /** Those that the member registered there. */
  servers: number
}

export function owns(members: readonly MemberRole[], userId: string): boolean {
  return members.some(({ user_id, role }) => user_id === userId && role === 'owner')
}

/** Whether the user can remove this member, or leave. The last owner stays. */
export function canEnd(members: readonly MemberRole[], memberId: string, userId: string): boolean {
  const others = members.filter(({ user_id }) => user_id !== memberId)
  if (others.length === members.length) return false
  if (memberId !== userId && !owns(others, userId)) return false
  return !owns(members, memberId) || others.some(({ role }) => role === 'owner')
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
