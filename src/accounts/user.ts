import { type Instant, presentInstant } from '../model/instant.ts'
import { complaintAboutLine, quote } from '../model/text.ts'

/** What names a user. One of the two is enough. */
export interface NamedUser {
  id: string
  /** Lower case: one mailbox, one user. */
  email: string | null
  /** The id that the operator's own site has for the user. */
  external_id: string | null
}

export interface User extends NamedUser {
  created_at: Instant
  /** An operator has ended the user's access: keys get a 401, and the user can't sign in. */
  disabled_at: Instant | null
  /** The site has ended it. The user has access while both are null. */
  banned_at: Instant | null
}

type Ended = Pick<User, 'disabled_at' | 'banned_at'>

/** Who has ended the user's access, in words, and when. */
export function endsOf({ disabled_at, banned_at }: Ended): { words: string; at: Instant }[] {
  return [
    { words: 'disabled by an operator', at: disabled_at },
    { words: 'banned by the site', at: banned_at },
  ].flatMap(({ words, at }) => (at === null ? [] : [{ words, at }]))
}

export const hasAccess = (user: Ended): boolean => endsOf(user).length === 0

/** A user with an email address, which a sign-in needs. */
export type AddressedUser = User & { email: string }

/**
 * The address that OPERATORS can name: not one of a site's user, and not one that came from an
 * identity provider.
 */
export function listedEmailOf({
  email,
  external_id,
  email_issuer,
}: Pick<User, 'email' | 'external_id'> & { email_issuer: string | null }): string | null {
  return external_id === null && email_issuer === null ? email : null
}

/** What pages and commands show for a user. */
export function nameOf({ id, email, external_id }: NamedUser): string {
  return email ?? external_id ?? id
}

export const EXTERNAL_ID_LENGTH_MAX = 255

/** The error of an invalid external id. Null if it is valid: any line of text, used as it is. */
export function complaintAboutExternalId(externalId: string): string | null {
  const complaint = complaintAboutLine(externalId, EXTERNAL_ID_LENGTH_MAX)
  return complaint && `an external id must ${complaint}: ${quote(externalId)}`
}

export function createUser<Email extends string | null>(
  email: Email,
  external_id: string | null = null,
): User & { email: Email } {
  const id = crypto.randomUUID()
  return {
    id,
    email,
    external_id,
    created_at: presentInstant(),
    disabled_at: null,
    banned_at: null,
  }
}
