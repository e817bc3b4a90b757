import { quote } from './text.ts'

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
