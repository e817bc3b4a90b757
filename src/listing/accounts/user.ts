import { type Instant, presentInstant } from '../instant.ts'
import { complaintAboutLine, quote } from '../text.ts'

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
  /** Since then the user's keys get a 401, and the user can't sign in. */
  disabled_at: Instant | null
}

/** A user with an email address, which a sign-in needs. */
export type AddressedUser = User & { email: string }

/** What pages and commands show for a user. */
export function nameOf({ id, email, external_id }: NamedUser): string {
  return email ?? external_id ?? id
}

/** Characters of an email address. */
export const EMAIL_LENGTH_MAX = 254
const EMAIL =
  /^[^\s@\p{Cc}\p{Cf}<>(),;:"\\]+@[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+(\.[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+)*$/u
const ASCII = /^[\x21-\x7e]*$/

/**
 * Normalizes an email address, or says why it is invalid. Nothing verifies the address, so it must
 * not look like another one: it has only ASCII characters.
 */
export function checkEmail(email: string): { email: string } | { complaint: string } {
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email))
    return { complaint: `an email address must look like name@example.com, not ${quote(email)}` }
  if (ASCII.test(email)) return { email: email.toLowerCase() }
  return {
    complaint:
      'an email address must have only ASCII characters (write a domain in another script as ' +
      `xn--…), not ${quote(email)}`,
  }
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
  return { id, email, external_id, created_at: presentInstant(), disabled_at: null }
}

export interface UserStore {
  /**
   * False if the email address or the external id is taken. Exactly one of several concurrent
   * callers gets true.
   */
  insertUser(user: User): Promise<boolean>
  findUser(email: string): Promise<User | null>
  findExternalUser(externalId: string): Promise<User | null>
  /**
   * Disables the user: every key of the user is refused, and all sessions, sign-ins under way and
   * the sign-in link end. Null enables the user with the same keys. A disabled user who is disabled
   * again keeps the instant.
   */
  setDisabled(
    userId: string,
    disabledAt: Instant | null,
  ): Promise<'changed' | 'unchanged' | 'not found'>
  /** Changes the email address on behalf of an operator. Sessions and the sign-in link stay. */
  setEmail(userId: string, email: string): Promise<'changed' | 'taken' | 'not found'>
  /**
   * Removes the user with all keys and servers. No claim with the keys is granted afterwards. The
   * oldest member becomes the owner of an organization that would have none. An organization
   * without members is removed, after `returnServers` for the servers of other users. False if
   * there is no such user.
   *
   * Not one transaction: the keys are revoked first. If the promise is rejected, some servers may
   * be gone. Calling it again removes the rest.
   */
  removeUser(userId: string): Promise<boolean>
}
