import { memberKey, type Planning } from './planning.ts'
import type { StoredMember } from './stored.ts'

/** Makes organizations with an owner, and renames those that are there. */
export function putOrganizations(planning: Planning): void {
  const { organizations, putMember, now, each } = planning
  const byId = new Map(organizations.rows().map((one) => [one.id, one]))
  each('put_organizations', ({ slug, name, id }, owner, refuse, done) => {
    const known = organizations.get(slug)
    const other = byId.get(id ?? '')
    if (known !== null && !mayChange(slug, planning)) refuse('of another account')
    else if (known !== null && id !== undefined && id !== known.id)
      refuse('mistake', 'id', `must be the id of ${slug}, ${known.id}, or be left out`)
    else if (known !== null) done(organizations.put({ ...known, name }))
    else if (other !== undefined)
      refuse('mistake', 'id', `is the id of the organization ${other.slug}`)
    else if (owner === null)
      refuse('no such user', '', 'is new, and needs an owner who is a user here')
    else {
      done(organizations.put({ id: id ?? crypto.randomUUID(), slug, name }))
      const { id: user_id, external_id } = owner
      putMember({ slug, user_id, role: 'owner', joined_at: now, external_id })
    }
  })
}

/** A site may not touch an organization of an account without an external id. */
function mayChange(slug: string, { hand, ownersOf }: Planning): boolean {
  const owners = hand === 'operator' ? [] : [...ownersOf(slug).values()]
  return owners.every(({ external_id }) => external_id !== null)
}

/** Adds owners before it takes the role from any, so that organizations can change hands. */
export function putMembers(planning: Planning): void {
  const { document, hasOrganization, members, putMember, now, each } = planning
  const places = new Map<string, string>()
  const rows = document.put_members ?? []
  const ofRole = (role: string) => rows.filter((row) => row.role === role)
  each(
    'put_members',
    ({ slug, role, place, joined_at = now }, user, refuse, done) => {
      if (!hasOrganization(slug)) return refuse('no such organization', 'slug')
      if (user === null) return refuse('no such user')
      const { id: user_id, external_id } = user
      const key = memberKey({ slug, user_id })
      const present = members.get(key)
      const earlier = places.get(key)
      places.set(key, place)
      const since = (members.stored(key) && present)?.joined_at ?? joined_at
      if (earlier !== undefined) refuse('mistake', '', `is the same user, as of ${earlier}`)
      else if (!mayChange(slug, planning)) refuse('of another account')
      else if (role === 'member' && isLastOwner(present, planning)) refuse('last owner', 'role')
      else done(putMember({ ...present, slug, user_id, role, joined_at: since, external_id }))
    },
    [...ofRole('owner'), ...ofRole('member')],
  )
}

const isLastOwner = (member: StoredMember | null, { ownersOf }: Planning): boolean =>
  member?.role === 'owner' && ownersOf(member.slug).size === 1

/** The servers of the user in the organization stay there. */
export function removeMembers(planning: Planning): void {
  const { members, removeMember, each } = planning
  each('remove_members', ({ slug }, user, refuse, done) => {
    const member = members.get(memberKey({ slug, user_id: user?.id ?? '' }))
    if (member === null) return
    if (!mayChange(slug, planning)) refuse('of another account')
    else if (isLastOwner(member, planning)) refuse('last owner', 'slug')
    else if (removeMember(member)) done('removed')
  })
}

export function removeOrganizations(planning: Planning): void {
  const { organizations, members, removeMember, servers, whole, each } = planning
  const places = new Set(
    servers.rows().map(({ id, organization }) => {
      const goesTo = whole?.servers.get(id)
      return goesTo === undefined ? organization : goesTo
    }),
  )
  each('remove_organizations', ({ slug }, _, refuse, done) => {
    if (organizations.get(slug) === null) return
    if (!mayChange(slug, planning)) refuse('of another account')
    else if (places.has(slug)) refuse('has servers', 'slug')
    else {
      organizations.remove(slug)
      done('removed')
      // The members of one that the document has made go with it.
      if (organizations.stored(slug) === null)
        for (const member of members.rows()) if (member.slug === slug) removeMember(member)
    }
  })
}
