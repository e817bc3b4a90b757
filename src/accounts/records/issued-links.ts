import type { Actor } from '../../model/audit.ts'
import { HOUR_US, type Instant } from '../../model/instant.ts'
import type { Database } from '../../database/database.ts'
import { createToken, hashToken } from '../token.ts'
import { signInLinks } from './sign-in-links.ts'

/** The path of a new sign-in link, with its token, which the caller shows once. */
export interface IssuedLink {
  path: string
  expiresAt: Instant
}

/**
 * Makes a link with which the user signs in, and replaces an earlier one. The store keeps the
 * token's hash only. Null if the user has no access or no email address, or is gone.
 */
export async function issueSignInLink(
  database: Database,
  userId: string,
  hours: number,
  actor: Actor,
): Promise<IssuedLink | null> {
  const token = createToken()
  const expiresAt = actor.at + hours * HOUR_US
  const link = { userId, tokenHash: hashToken(token), expiresAt }
  const isKept = await signInLinks(database).keepSignInLink(link, actor)
  return isKept ? { path: `/link/${token}`, expiresAt } : null
}
