import { randomUUID } from 'node:crypto'
import { type Instant, presentInstant } from './instant.ts'
import { quote } from './text.ts'

export interface User {
  id: string
  /** Lower case: one mailbox, one user. */
  email: string
  created_at: Instant
}

const EMAIL_LENGTH_MAX = 254
// No characters that nobody sees, such as those that turn the direction of writing.
const EMAIL =
  /^[^\s@\p{Cc}\p{Cf}<>(),;:"\\]+@[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+(\.[^\s@\p{Cc}\p{Cf}<>(),;:"\\.]+)*$/u

/** The address as it will be stored; or why it cannot be one. Whether mail arrives there is not asked. */
export function checkEmail(email: string): { email: string } | { complaint: string } {
  if (email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email)) return { email: email.toLowerCase() }
  return { complaint: `an e-mail address looks like name@example.com: ${quote(email)} does not` }
}

export function createUser(email: string): User {
  return { id: randomUUID(), email, created_at: presentInstant() }
}
