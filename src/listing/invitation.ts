import { DAY_US, type Instant } from './instant.ts'

/** How long an invitation can be accepted. */
export const INVITATION_KEPT_US = 14 * DAY_US
/** Members per organization, including invited users. */
export const MEMBERS_MAX = 50
/** The number of latest invitations that a user sees. */
export const INVITATIONS_SHOWN = 10

/** An invitation as the invited user sees it. */
export interface Invitation {
  organization_id: string
  name: string
  /** The current name of the owner who invited the user. */
  invited_by: string
}

/** An invitation as an owner sees it. It does not reveal whether an account has the address. */
export interface Invited {
  id: string
  email: string
  invited_at: Instant
}

/**
 * The invitations of a store. An invitation is for the user who has the email address when it is
 * answered. Methods ignore invitations from before `since`.
 */
export interface InvitationStore {
  /**
   * Invites an address on behalf of an owner; `not found` for other users. A second invitation
   * replaces the first. `full` if the organization would exceed MEMBERS_MAX.
   */
  invite(
    userId: string,
    organizationId: string,
    email: string,
    since: Instant,
    now: Instant,
  ): Promise<'invited' | 'member' | 'full' | 'not found'>
  /** The invitations of an organization, by email address. Empty unless the user is an owner. */
  listInvited(userId: string, organizationId: string, since: Instant): Promise<Invited[]>
  /** Withdraws an invitation on behalf of an owner. */
  withdrawInvitation(userId: string, organizationId: string, id: string): Promise<boolean>

  /** The user's latest invitations, at most INVITATIONS_SHOWN. */
  listInvitations(userId: string, since: Instant): Promise<Invitation[]>
  /**
   * Makes the user a member. `too many` if the user is already in ORGANIZATIONS_MAX organizations.
   */
  acceptInvitation(
    userId: string,
    organizationId: string,
    since: Instant,
    now: Instant,
  ): Promise<'joined' | 'too many' | 'not found'>
  declineInvitation(userId: string, organizationId: string): Promise<boolean>
}

/** The earliest creation of an invitation that is still valid. */
export function oldestInvitation(now: Instant): Instant {
  return now - INVITATION_KEPT_US
}
