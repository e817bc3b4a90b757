import type { Organization } from '../../organizations/organization.ts'
import { complaintIn, type DeclaredOrganization, type StateComplaint } from '../declared-state.ts'
import { quote } from '../../model/text.ts'
import { addChange, differences, emptyPlan, type Planned } from './changes.ts'
import type { Stored } from './stored-state.ts'

/** Plans an organization itself. Its members are planned with the users. */
export function planOrganization(record: DeclaredOrganization, stored: Stored): Planned {
  const { slug, name } = record
  const plan = emptyPlan(record, null, slug)
  const before = stored.organizationsBySlug.get(slug) ?? null
  plan.complaints.push(...complaintsAbout(record, before, stored))
  plan.memberships.push({ slug, role: null })
  const after = { id: before?.id ?? record.id ?? crypto.randomUUID(), slug, name }
  if (before === null) addChange(plan, 'organization', null, after, quote(name))
  else
    for (const told of differences(before, after))
      addChange(plan, 'organization', before, after, told)
  return plan
}

function complaintsAbout(
  record: DeclaredOrganization,
  known: Organization | null,
  stored: Stored,
): StateComplaint[] {
  const { id, slug, members } = record
  if (known === null && members === undefined)
    return [complaintIn(record, 'members', 'is missing; a new organization needs an owner')]
  if (id === undefined || id === known?.id) return []
  if (known !== null)
    return [complaintIn(record, 'id', `must be the id of ${slug}, ${known.id}, or be left out`)]
  const other = stored.organizationsById.get(id)
  return other === undefined
    ? []
    : [complaintIn(record, 'id', `is the id of the organization ${other.slug}`)]
}
