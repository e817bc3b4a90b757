import type { User } from '../accounts/user.ts'
import type { Instant } from '../model/instant.ts'

/** A user with the word of the site. Since then the user has no access. */
export type SiteUser = User & { banned_at: Instant | null }
