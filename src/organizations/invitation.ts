import { DAY_US, type Instant } from '../model/instant.ts'

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

/** The earliest creation of an invitation that is still valid. */
export function oldestInvitation(now: Instant): Instant {
  return now - INVITATION_KEPT_US
}
