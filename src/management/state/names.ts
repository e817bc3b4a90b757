import type { StoredState } from '../../listing/state/state-store.ts'
import type { Scope } from './stored-state.ts'

/** Organizations by their slugs, as they are once a state is applied. */
export interface Names {
  slugOf(organizationId: string | null): string | null
  /** Whether the user is a member then. `userId` may be an email address of a new user. */
  isMember(userId: string, slug: string): boolean
}

export function namesIn(
  stored: StoredState,
  { organizations, users }: Scope,
  prune: boolean,
): Names {
  const slugs = new Map(stored.organizations.map(({ id, slug }) => [id, slug]))
  const members = new Set(
    stored.members.map(({ organization_id, user_id }) =>
      JSON.stringify([user_id, slugs.get(organization_id)]),
    ),
  )
  const ids = new Map(stored.users.map(({ id, email }) => [email, id]))
  for (const { slug, members: listed } of organizations) {
    if (listed === undefined) continue
    if (prune) for (const { email } of users) members.delete(JSON.stringify([ids.get(email), slug]))
    for (const { email } of listed) members.add(JSON.stringify([ids.get(email) ?? email, slug]))
  }
  return {
    slugOf: (organizationId) =>
      organizationId === null ? null : (slugs.get(organizationId) ?? null),
    isMember: (userId, slug) => members.has(JSON.stringify([userId, slug])),
  }
}
