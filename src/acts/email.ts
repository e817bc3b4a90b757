import { EMAIL_LENGTH_MAX } from '../model/email.ts'

/** What an address of a site's user may be. PostgreSQL checks the same. */
const EMAIL = /^[!-?A-~]+@[!-?A-~]+$/

/** The address as it is stored. Null if it is none. */
export function siteEmail(text: string): string | null {
  return text.length <= EMAIL_LENGTH_MAX && EMAIL.test(text) ? text.toLowerCase() : null
}
