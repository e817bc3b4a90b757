import type { Instant } from './instant.ts'

/** How long an invitation can be accepted, in microseconds. */
export const INVITATION_KEPT = 14 * 86_400_000_000
/** Members of one organization, those who are invited among them. */
export const MEMBERS_MAX = 50
/** Invitations that are shown to whom they are for: the latest. */
export const INVITATIONS_SHOWN = 10

/** An invitation as it is shown to whom it is for. */
export interface Invitation {
  organization_id: string
  name: string
  /** The present e-mail address of who invited. */
  invited_by: string
}

/** The same as an owner sees it: the address as it was given, whether or not anybody has an account with it. */
export interface Invited {
  id: string
  email: string
  invited_at: Instant
}

/**
 * What the dashboard asks of a store about invitations. One is for whoever has the e-mail address when it is answered.
 * Those from before `since` are as if they were not there.
 */
export interface InvitationStore {
  /**
   * Done by an owner; `not found` for who is none. A second invitation of one address takes the place of the first.
   * `full` where the organization would have more than MEMBERS_MAX.
   */
  invite(
    userId: string,
    organizationId: string,
    email: string,
    since: Instant,
    now: Instant,
  ): Promise<'invited' | 'member' | 'full' | 'not found'>
  /** Those of an organization, by e-mail; none for who does not own it. */
  listInvited(userId: string, organizationId: string, since: Instant): Promise<Invited[]>
  /** Takes an invitation back; done by an owner. */
  withdrawInvitation(userId: string, organizationId: string, id: string): Promise<boolean>

  /** The latest for this user, at most INVITATIONS_SHOWN. */
  listInvitations(userId: string, since: Instant): Promise<Invitation[]>
  /** Makes the user a member. `too many` where they are one of ORGANIZATIONS_MAX others. */
  acceptInvitation(
    userId: string,
    organizationId: string,
    since: Instant,
    now: Instant,
  ): Promise<'joined' | 'too many' | 'not found'>
  declineInvitation(userId: string, organizationId: string): Promise<boolean>
}
