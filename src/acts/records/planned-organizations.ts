import type { Planning } from './planning.ts'
import { memberKey } from './planning.ts'
import type { StoredMember } from './stored.ts'

/** Makes organizations with an owner, and renames those that are there. */
export function putOrganizations(planning: Planning): void {
  const { document, organizations, find, now, count, refuse } = planning
  const byId = new Map(organizations.rows().map((one) => [one.id, one]))
  for (const row of document.put_organizations ?? []) {
    const { slug, name, id } = row
    const known = organizations.get(slug)
    const other = byId.get(id ?? '')
    const complain = (told: string) =>
      refuse('put_organizations', row, 'of another account', 'id', told)
    if (known !== null && !mayChange(slug, planning)) complain('')
    else if (known !== null && id !== undefined && id !== known.id)
      complain(`must be the id of ${slug}, ${known.id}, or be left out`)
    else if (known === null && other !== undefined)
      complain(`is the id of the organization ${other.slug}`)
    else if (known !== null) count('put_organizations', organizations.put({ ...known, name }))
    else {
      const owner = find(row)
      if (owner === null) {
        const told = 'is new, and needs an owner who is a user here'
        refuse('put_organizations', row, 'no such user', undefined, told)
        continue
      }
      const { id: user_id, external_id } = owner
      count('put_organizations', organizations.put({ id: id ?? crypto.randomUUID(), slug, name }))
      planning.putMember({ slug, user_id, role: 'owner', joined_at: now, external_id })
    }
  }
}

/** A site may not touch an organization of an account without an external id. */
function mayChange(slug: string, planning: Planning): boolean {
  return (
    planning.hand === 'operator' ||
    [...planning.ownersOf(slug).values()].every(({ external_id }) => external_id !== null)
  )
}

/** Adds owners before it takes the role from any, so that organizations can change hands. */
export function putMembers(planning: Planning): void {
  const { document, hasOrganization, members, putMember, find, now, count, refuse } = planning
  const rows = document.put_members ?? []
  const places = new Map<string, string>()
  const byRole = Map.groupBy(rows, ({ role }) => role)
  for (const row of [...(byRole.get('owner') ?? []), ...(byRole.get('member') ?? [])]) {
    const { slug, role, place, joined_at = now } = row
    const user = find(row)
    const key = memberKey({ slug, user_id: user?.id ?? '' })
    const earlier = user && places.get(key)
    if (!hasOrganization(slug))
      refuse('put_members', row, 'no such organization', 'slug', 'is no organization here')
    else if (user === null)
      refuse('put_members', row, 'no such user', undefined, 'names no user here')
    else if (earlier)
      refuse(
        'put_members',
        row,
        'of another account',
        undefined,
        `is the same user, as of ${earlier}`,
      )
    else if (!mayChange(slug, planning)) refuse('put_members', row, 'of another account')
    else {
      places.set(key, place)
      const present = members.get(key)
      const { external_id } = user
      const isNew = members.stored(key) === null
      const since = isNew ? joined_at : present!.joined_at
      if (role === 'member' && isLastOwner(present, planning))
        refuse(
          'put_members',
          row,
          'last owner',
          'role',
          'would leave the organization without an owner',
        )
      else
        count(
          'put_members',
          putMember({ ...present, slug, user_id: user.id, role, joined_at: since, external_id }),
        )
    }
  }
}

function isLastOwner(member: StoredMember | null, planning: Planning): boolean {
  return member?.role === 'owner' && planning.ownersOf(member.slug).size === 1
}

/** The servers of the user in the organization stay there. */
export function removeMembers(planning: Planning): void {
  const { document, members, find, count, refuse } = planning
  for (const row of document.remove_members ?? []) {
    const user = find(row)
    const member = user && members.get(memberKey({ slug: row.slug, user_id: user.id }))
    if (member === null) continue
    if (!mayChange(row.slug, planning)) refuse('remove_members', row, 'of another account')
    else if (isLastOwner(member, planning))
      refuse('remove_members', row, 'last owner', 'slug', 'would be without an owner')
    else if (planning.removeMember(member)) count('remove_members', 'removed')
  }
}

export function removeOrganizations(planning: Planning): void {
  const { document, organizations, servers, whole, count, refuse } = planning
  const places = new Set(
    servers.rows().map(({ id, organization }) => {
      const goesTo = whole?.servers.get(id)
      return goesTo === undefined ? organization : goesTo
    }),
  )
  for (const row of document.remove_organizations ?? []) {
    const { slug } = row
    if (organizations.get(slug) === null) continue
    if (!mayChange(slug, planning)) refuse('remove_organizations', row, 'of another account')
    else if (places.has(slug))
      refuse('remove_organizations', row, 'has servers', 'slug', 'has servers: remove or move them')
    else if (organizations.remove(slug)) count('remove_organizations', 'removed')
  }
}
