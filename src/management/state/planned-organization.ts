import type { Organization } from '../../listing/organization.ts'
import type { DeclaredOrganization, StateComplaint } from '../../listing/state/declared-state.ts'
import type { RecordPlan } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import type { Stored } from './stored-state.ts'

/** What is written for an organization itself. Its members are written with the users. */
export interface PlannedOrganization extends RecordPlan {
  organization: Organization
  isNew: boolean
}

export function planOrganization(
  record: DeclaredOrganization,
  stored: Stored,
): PlannedOrganization {
  const { slug, name } = record
  const known = stored.organizationsBySlug.get(slug)
  const isNew = known === undefined
  const change = { kind: 'organization', of: slug } as const
  const added = { ...change, action: 'add', text: quote(name) } as const
  const renamed = (before: string) =>
    ({ ...change, action: 'change', text: `name ${quote(before)} → ${quote(name)}` }) as const
  return {
    record,
    userId: null,
    of: slug,
    changes: isNew ? [added] : known.name === name ? [] : [renamed(known.name)],
    keptRevoked: [],
    complaints: complaintsAbout(record, known, stored),
    owns: [],
    needs: isNew ? [slug] : [],
    organization: { id: known?.id ?? record.id ?? crypto.randomUUID(), slug, name },
    isNew,
  }
}

function complaintsAbout(
  { place, id, slug, members }: DeclaredOrganization,
  known: Organization | undefined,
  stored: Stored,
): StateComplaint[] {
  if (known === undefined && members === undefined)
    return [{ place: `${place}.members`, message: 'is missing; a new organization needs an owner' }]
  if (id === undefined || id === known?.id) return []
  if (known !== undefined)
    return [
      { place: `${place}.id`, message: `must be the id of ${slug}, ${known.id}, or be left out` },
    ]
  const other = stored.organizationsById.get(id)
  return other === undefined
    ? []
    : [{ place: `${place}.id`, message: `is the id of the organization ${other.slug}` }]
}
