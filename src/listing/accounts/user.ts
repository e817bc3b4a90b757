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
