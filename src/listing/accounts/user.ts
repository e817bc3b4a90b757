import { type Instant, presentInstant } from '../instant.ts'
import { quote } from '../text.ts'

export interface User {
  id: string
  /** Lower case: one mailbox, one user. */
  email: string
  created_at: Instant
}

/** Characters of an email address. */
export const EMAIL_LENGTH_MAX = 254
// Excludes invisible characters, such as those that change the direction of writing.
const EMAIL =
  /^[^\s@\p{Cc}\p{Cf}<>(),;:"\\]+@[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+(\.[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+)*$/u

const ASCII = /^[\x21-\x7e]*$/

/**
 * Normalizes the email address of a new account, or says why it is invalid. Nothing verifies the
 * address, so it must not look like another one: it has only ASCII characters.
 */
export function checkEmail(email: string): { email: string } | { complaint: string } {
  const checked = checkStoredEmail(email)
  if ('complaint' in checked || ASCII.test(email)) return checked
  return {
    complaint:
      'the email address of an account must have only ASCII characters (write a domain in ' +
      `another script as xn--…), not ${quote(email)}`,
  }
}

/** Normalizes an address for a lookup. Older accounts may have one that `checkEmail` refuses. */
export function checkStoredEmail(email: string): { email: string } | { complaint: string } {
  if (email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email)) return { email: email.toLowerCase() }
  return { complaint: `an email address must look like name@example.com, not ${quote(email)}` }
}

export function createUser(email: string): User {
  return { id: crypto.randomUUID(), email, created_at: presentInstant() }
}

export interface UserStore {
  /** False if the email is taken. Exactly one of several concurrent callers gets true. */
  insertUser(user: User): Promise<boolean>
  findUser(email: string): Promise<User | null>
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
