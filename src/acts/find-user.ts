import type { User } from '../accounts/user.ts'
import type { Hand, Named } from './document.ts'

/** Finds the users whom rows name. */
export function userFinder(users: readonly User[], hand: Hand) {
  const byExternalId = new Map<string, User>()
  const byId = new Map<string, User>()
  const byEmail = new Map<string, User>()
  const add = (user: User): void => {
    byId.set(user.id, user)
    if (user.external_id !== null) byExternalId.set(user.external_id, user)
    if (user.email !== null) byEmail.set(user.email, user)
  }
  users.forEach(add)
  return {
    add,
    /** Who has this address. */
    holderOf: (email: string): User | undefined => byEmail.get(email),
    free: (email: string): boolean => byEmail.delete(email),

    /**
     * The first name that is known means the user. An address alone does not mean a user to whom
     * the site gave another external id.
     */
    find({ external_id, user_id, email }: Named): User | undefined {
      const known = byExternalId.get(external_id ?? '')
      if (known !== undefined || hand === 'site') return known
      const addressed = byEmail.get(email ?? '')
      return (
        byId.get(user_id ?? '') ?? (external_id && addressed?.external_id ? undefined : addressed)
      )
    },
  }
}

export type UserFinder = ReturnType<typeof userFinder>
